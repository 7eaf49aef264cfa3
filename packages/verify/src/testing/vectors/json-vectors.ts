import { blake3, canonicalJson, parseJson, toHex, utf8 } from "@narthex/contracts";

const TEXTS: readonly string[] = [
  "null",
  " true ",
  "0",
  "-0",
  "-0.0e5",
  "1E2",
  "100",
  "4.50",
  "2e-3",
  "0.000001",
  "0.0000001",
  "1e21",
  "123456789012345680000",
  "9007199254740991",
  "9007199254740992",
  "333333333.33333329",
  "5e-324",
  "1.7976931348623157e308",
  '""',
  '"\\u0041\\u00e9\\u20ac\\ud83d\\ude00"',
  '"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\\u007f\\u2028"',
  '"\\"\\\\\\/"',
  "[]",
  "{}",
  "[1, [2, [3]], {}]",
  '{"b":1,"a":2,"":3,"aa":4,"B":5}',
  '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}',
  '{"__proto__":1,"constructor":2,"toString":3}',
  '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"literals":[null,true,false]}',
  '{"$secret":"github"}',
];

const REFUSED: readonly { readonly name: string; readonly text: string }[] = [
  { name: "nothing", text: "" },
  { name: "a value and more", text: "{} {}" },
  { name: "a comma too many", text: "[1,]" },
  { name: "a comment", text: "// x\n1" },
  { name: "single quotes", text: "{'a':1}" },
  { name: "a leading zero", text: "01" },
  { name: "not a number", text: "NaN" },
  { name: "a byte order mark", text: "\ufeff1" },
  { name: "a control character in a string", text: '"\u0001"' },
  { name: "the same key twice", text: '{"a":1,"a":2}' },
  { name: "the same key twice, once escaped", text: '{"list":[{"a":1,"\\u0061":2}]}' },
  { name: "a number that overflows", text: '{"a":[1e400]}' },
  { name: "an integer that does not survive", text: '{"n":9007199254740993}' },
  { name: "a large integer that does not survive", text: "12345678901234567890" },
  { name: "half a surrogate pair", text: '{"a":"\\ud800"}' },
  { name: "half a surrogate pair in a key", text: '{"\\udc00":1}' },
  { name: "nesting of 129", text: `${"[".repeat(129)}${"]".repeat(129)}` },
];

/** Texts with the canonical text and content hash of their values. */
export function canonicalJsonVectors(): unknown {
  return TEXTS.map((text) => {
    const canonical = canonicalJson(parseJson(text));
    return { text, canonical, hash: toHex(blake3(utf8(canonical))) };
  });
}

/** Texts that are refused, and the rule that they break. */
export function refusedJsonVectors(): unknown {
  return REFUSED.map(({ name, text }) => ({ name, text, rule: ruleOf(text) }));
}

function ruleOf(text: string): unknown {
  try {
    parseJson(text);
  } catch (fault) {
    if (fault instanceof Error && "rule" in fault) return fault.rule;
    throw fault;
  }
  throw new Error(`nothing is wrong with ${text}`);
}
