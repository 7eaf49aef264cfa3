/** A pattern in re2js syntax, with estimates of its cost. */
export interface TranslatedPattern {
  readonly source: string;
  /** Approximate number of states, with repetitions expanded. */
  readonly states: number;
  /**
   * Whether a backtracking engine matches it in linear time too: it starts at the beginning of the text, is short, has
   * no group or alternative and repeats at most one thing a variable number of times.
   */
  readonly simple: boolean;
}

export class UnsupportedPattern extends Error {}

const SIMPLE_STATES = 128;
/** The characters of ECMAScript's `\s`, as members of a class. RE2's own `\s` only covers ASCII. */
const SPACES =
  "\\t\\n\\x{b}\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NOT_SPACES =
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}" +
  "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
const LINE_ENDS = "\\n\\r\\x{2028}\\x{2029}";
const ANYTHING = "\\x{0}-\\x{10ffff}";
const CATEGORIES: ReadonlyMap<string, string> = new Map([
  ["Letter", "L"],
  ["Lowercase_Letter", "Ll"],
  ["Uppercase_Letter", "Lu"],
  ["Titlecase_Letter", "Lt"],
  ["Modifier_Letter", "Lm"],
  ["Other_Letter", "Lo"],
  ["Mark", "M"],
  ["Number", "N"],
  ["Decimal_Number", "Nd"],
  ["digit", "Nd"],
  ["Punctuation", "P"],
  ["punct", "P"],
  ["Symbol", "S"],
  ["Separator", "Z"],
  ["Space_Separator", "Zs"],
]);

/**
 * Rewrites an ECMAScript pattern (in Unicode mode, as JSON Schema requires) so that it means the same in RE2. Throws
 * UnsupportedPattern for constructs that cannot be matched in linear time: look-around, back references, modifiers.
 */
export function translatePattern(pattern: string): TranslatedPattern {
  // Only checks the syntax: every accepted pattern follows the small grammar parsed below.
  new RegExp(pattern, "u");
  return new Translator(pattern).run();
}

interface Group {
  states: number;
  /** States of the last atom, which a quantifier multiplies. */
  atom: number;
}

class Translator {
  readonly #pattern: string;
  #at = 0;
  #out = "";
  #groups = 0;
  #variable = 0;
  #alternatives = 0;
  readonly #open: Group[] = [{ states: 0, atom: 0 }];

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  run(): TranslatedPattern {
    while (this.#at < this.#pattern.length) this.#step();
    const { states } = this.#top();
    const flat = this.#pattern.startsWith("^") && this.#groups === 0 && this.#alternatives === 0;
    const simple = flat && (this.#variable === 0 || (this.#variable === 1 && states <= SIMPLE_STATES));
    return { source: this.#out, states, simple };
  }

  #step(): void {
    const character = this.#next();
    if (character === "\\") this.#escape();
    else if (character === "[") this.#class();
    else if (character === "(") this.#group();
    else if (character === ")") this.#close();
    else if (character === ".") this.#atom(`[^${LINE_ENDS}]`);
    else if (character === "*" || character === "+" || character === "?" || character === "{") this.#repeat(character);
    else if (character === "|") {
      this.#alternatives++;
      this.#out += "|";
      this.#top().states++;
    } else if (character === "^" || character === "$") this.#assertion(character);
    else this.#atom(literal(character));
  }

  #assertion(text: string): void {
    this.#out += text;
    this.#top().states++;
    this.#top().atom = 1;
  }

  #atom(text: string): void {
    this.#out += text;
    this.#top().states++;
    this.#top().atom = 1;
  }

  #group(): void {
    this.#groups++;
    const rest = this.#pattern.slice(this.#at);
    if (rest.startsWith("?:")) this.#at += 2;
    else if (/^\?<[^=!]/.test(rest)) this.#at += rest.indexOf(">") + 1;
    else if (rest.startsWith("?")) throw new UnsupportedPattern("look-around and modifiers are not supported");
    this.#out += "(?:";
    this.#open.push({ states: 1, atom: 0 });
  }

  #close(): void {
    const group = this.#open.pop();
    this.#out += ")";
    const outer = this.#top();
    outer.atom = group?.states ?? 0;
    outer.states += outer.atom;
  }

  #repeat(character: string): void {
    let text = character;
    let times = 2;
    if (character === "{") {
      const end = this.#pattern.indexOf("}", this.#at);
      text = this.#pattern.slice(this.#at - 1, end + 1);
      this.#at = end + 1;
      const [least = "", most = least] = text.slice(1, -1).split(",");
      times = Math.max(Number(least), Number(most)) + 1;
      if (least !== most) this.#variable++;
    } else {
      this.#variable++;
    }
    if (this.#pattern[this.#at] === "?") {
      this.#at++;
      text += "?";
    }
    this.#out += text;
    const top = this.#top();
    top.states += top.atom * (times - 1);
  }

  #escape(): void {
    const character = this.#next();
    if (character === "b" || character === "B") this.#assertion(`\\${character}`);
    else if (/[1-9k]/.test(character)) throw new UnsupportedPattern("back references are not supported");
    else this.#atom(this.#escaped(character, "outside"));
  }

  #class(): void {
    let text = "[";
    if (this.#pattern[this.#at] === "^") {
      this.#at++;
      text += "^";
    }
    if (this.#pattern[this.#at] === "]") {
      this.#at++;
      this.#atom(text === "[" ? `[^${ANYTHING}]` : `[${ANYTHING}]`);
      return;
    }
    for (let character = this.#next(); character !== "]"; character = this.#next()) {
      if (character === "\\") text += this.#escaped(this.#next(), "inside");
      else text += character === "-" ? "-" : literal(character);
    }
    this.#atom(`${text}]`);
  }

  #escaped(character: string, where: "inside" | "outside"): string {
    const inClass = (members: string): string => (where === "inside" ? members : `[${members}]`);
    if (character === "s") return inClass(SPACES);
    if (character === "S") return inClass(NOT_SPACES);
    if (/[dDwW]/.test(character)) return `\\${character}`;
    if (/[tnfr]/.test(character)) return `\\${character}`;
    if (character === "v") return "\\x{b}";
    if (character === "b") return "\\x{8}";
    if (character === "0") return "\\x{0}";
    if (character === "c") return codePoint(this.#next().charCodeAt(0) % 32);
    if (character === "x") return codePoint(Number.parseInt(this.#take(2), 16));
    if (character === "u") return codePoint(this.#unicode());
    if (character === "p" || character === "P") return this.#property(character);
    return literal(character);
  }

  #unicode(): number {
    if (this.#pattern[this.#at] === "{") {
      const end = this.#pattern.indexOf("}", this.#at);
      const digits = this.#pattern.slice(this.#at + 1, end);
      this.#at = end + 1;
      return Number.parseInt(digits, 16);
    }
    const first = Number.parseInt(this.#take(4), 16);
    const pair = /^\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(this.#pattern.slice(this.#at, this.#at + 6));
    if (first >= 0xd800 && first < 0xdc00 && pair?.[1] !== undefined) {
      this.#at += 6;
      return 0x10000 + ((first - 0xd800) << 10) + (Number.parseInt(pair[1], 16) - 0xdc00);
    }
    if (first >= 0xd800 && first < 0xe000) throw new UnsupportedPattern("half a surrogate pair matches no text");
    return first;
  }

  #property(sign: string): string {
    const end = this.#pattern.indexOf("}", this.#at);
    const name = this.#pattern.slice(this.#at + 1, end);
    this.#at = end + 1;
    const [key = "", value] = name.split("=");
    if (value !== undefined && /^(sc|Script)$/.test(key)) return `\\${sign}{${value}}`;
    const category = value !== undefined && /^(gc|General_Category)$/.test(key) ? value : name;
    const short = CATEGORIES.get(category) ?? (/^[CLMNPSZ][a-z]?$/.test(category) ? category : undefined);
    if (short === undefined || short === "LC" || short.startsWith("Cn")) {
      throw new UnsupportedPattern(`the character property ${name} is not supported`);
    }
    return `\\${sign}{${short}}`;
  }

  #next(): string {
    const point = this.#pattern.codePointAt(this.#at) ?? 0;
    const character = String.fromCodePoint(point);
    this.#at += character.length;
    return character;
  }

  #take(length: number): string {
    const text = this.#pattern.slice(this.#at, this.#at + length);
    this.#at += length;
    return text;
  }

  #top(): Group {
    const top = this.#open.at(-1);
    if (top === undefined) throw new UnsupportedPattern("unbalanced groups");
    return top;
  }
}

function literal(character: string): string {
  return /[A-Za-z0-9 _]/.test(character) ? character : codePoint(character.codePointAt(0) ?? 0);
}

function codePoint(point: number): string {
  return `\\x{${point.toString(16)}}`;
}
