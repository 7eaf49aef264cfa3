/** One setting of a git configuration file. */
export interface GitSetting {
  /** Section and variable in lower case; the subsection between them is unchanged. */
  readonly key: string;
  /** Undefined for a variable without `=`. */
  readonly value: string | undefined;
}

const SPACE = /[ \t\n\r]/;
const KEY_CHARACTER = /[A-Za-z0-9-]/;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["t", "\t"],
  ["b", "\b"],
  ["n", "\n"],
  ["\\", "\\"],
  ['"', '"'],
]);

/**
 * Parses one configuration file as git does, without following includes. Stops at the first line that git rejects: git
 * refuses to work with such a file at all.
 *
 * SPEC: git-config(1), "Syntax". Compared with git itself by "reads every configuration as git does".
 */
export function parseGitConfig(text: string): GitSetting[] {
  const reader = new Reader(text.startsWith("\ufeff") ? text.slice(1) : text);
  const settings: GitSetting[] = [];
  let section = "";
  for (;;) {
    const character = reader.next();
    if (character === undefined) return settings;
    if (SPACE.test(character)) continue;
    if (character === "#" || character === ";") {
      reader.skipLine();
    } else if (character === "[") {
      const name = readSection(reader);
      if (name === undefined) return settings;
      section = name;
    } else {
      const setting = /[A-Za-z]/.test(character) ? readSetting(reader, section, character) : undefined;
      if (setting === undefined) return settings;
      settings.push(setting);
    }
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Returns undefined at the end. Treats `\r
   * ` as `
   * `.
   */
  next(): string | undefined {
    const character = this.#text[this.#at++];
    if (character !== "\r" || this.#text[this.#at] !== "\n") return character;
    this.#at++;
    return "\n";
  }

  skipLine(): void {
    for (let character = this.next(); character !== undefined && character !== "\n"; ) character = this.next();
  }
}

/** Returns the section's name with a dot at its end; undefined for a line that git rejects. */
function readSection(reader: Reader): string | undefined {
  let name = "";
  for (;;) {
    const character = reader.next();
    if (character === undefined) return undefined;
    if (character === "]") return `${name}.`;
    if (SPACE.test(character)) return readSubsection(reader, name, character);
    if (!KEY_CHARACTER.test(character) && character !== ".") return undefined;
    name += character.toLowerCase();
  }
}

function readSubsection(reader: Reader, section: string, space: string): string | undefined {
  let character: string | undefined = space;
  while (character !== undefined && SPACE.test(character)) {
    if (character === "\n") return undefined;
    character = reader.next();
  }
  if (character !== '"') return undefined;
  let name = "";
  for (;;) {
    character = reader.next();
    if (character === '"') return reader.next() === "]" ? `${section}.${name}.` : undefined;
    if (character === "\\") character = reader.next();
    if (character === undefined || character === "\n") return undefined;
    name += character;
  }
}

function readSetting(reader: Reader, section: string, first: string): GitSetting | undefined {
  let key = section + first.toLowerCase();
  let character = reader.next();
  while (character !== undefined && KEY_CHARACTER.test(character)) {
    key += character.toLowerCase();
    character = reader.next();
  }
  while (character === " " || character === "\t") character = reader.next();
  if (character === undefined || character === "\n") return { key, value: undefined };
  const value = character === "=" ? readValue(reader) : undefined;
  return value === undefined ? undefined : { key, value };
}

/** Returns undefined for a value that git rejects. */
function readValue(reader: Reader): string | undefined {
  let value = "";
  let space = "";
  let isQuoted = false;
  for (;;) {
    const character = reader.next();
    if (character === undefined || character === "\n") return isQuoted ? undefined : value;
    if (!isQuoted && SPACE.test(character)) {
      if (value !== "") space += character;
      continue;
    }
    if (!isQuoted && (character === "#" || character === ";")) {
      reader.skipLine();
      return value;
    }
    value += space;
    space = "";
    if (character === '"') {
      isQuoted = !isQuoted;
      continue;
    }
    if (character !== "\\") {
      value += character;
      continue;
    }
    const escaped = reader.next();
    if (escaped === "\n" || escaped === undefined) continue;
    const meaning = ESCAPES.get(escaped);
    if (meaning === undefined) return undefined;
    value += meaning;
  }
}
