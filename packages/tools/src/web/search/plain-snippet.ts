const NAMED: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["nbsp", " "],
  ["hellip", "…"],
  ["ndash", "–"],
  ["mdash", "—"],
  ["lsquo", "‘"],
  ["rsquo", "’"],
  ["ldquo", "“"],
  ["rdquo", "”"],
]);
const HIGHEST_CODE = 0x10ffff;

/** Converts an HTML snippet to plain text. Tags are removed first: escaped characters are text and never form a tag. */
export function plainSnippet(html: string): string {
  return html
    .replaceAll(/<\/?[a-z][^<>]*>/gi, "")
    .replaceAll(
      /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,6}));/gi,
      (whole, hex?: string, decimal?: string, name = "") => {
        if (hex !== undefined) return characterOf(Number.parseInt(hex, 16)) ?? whole;
        if (decimal !== undefined) return characterOf(Number(decimal)) ?? whole;
        return NAMED.get(String(name).toLowerCase()) ?? whole;
      },
    );
}

function characterOf(code: number): string | undefined {
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return code === 0 || code > HIGHEST_CODE || isSurrogate ? undefined : String.fromCodePoint(code);
}
