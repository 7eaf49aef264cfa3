import assert from "node:assert/strict";

const TOKEN = /<(\/?)([a-z]+)((?: [a-zA-Z0-9-]+="[^"<&]*")*)(\/?)>|([^<]+)/gy;

/** Fails unless the text is one XML element whose tags are closed in order and whose text is escaped. */
export function assertWellFormed(xml: string): void {
  const open: string[] = [];
  let end = 0;
  for (const token of xml.matchAll(TOKEN)) {
    const [, closing, name, , empty, text] = token;
    end = token.index + token[0].length;
    if (text !== undefined) assert.match(text, /^(?:[^&]|&(?:amp|lt|gt|quot);)*$/, "an & that is no entity");
    else if (closing === "/") assert.equal(name, open.pop());
    else if (empty !== "/") open.push(String(name));
  }
  assert.equal(end, xml.length, `not XML: ${xml.slice(end, end + 60)}`);
  assert.deepEqual(open, []);
}
