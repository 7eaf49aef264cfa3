import { KernelError, type Violation } from "@narthex/contracts";

/** Maximum number of problems that are described; further ones are only counted. */
const MAX_DESCRIBED = 100;
/** Maximum number of problems in the error message itself. */
const MAX_IN_MESSAGE = 20;
const MAX_QUOTED = 60;
const MAX_PATH = 300;

export interface ConfigurationProblem {
  readonly line: number;
  /** Path of the key; empty for a problem of the whole file. */
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

/** All problems of one configuration file. */
export class ConfigurationProblems {
  readonly #file: string;
  readonly #described: ConfigurationProblem[] = [];
  #count = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Adds a problem. The description is created only if there is room for it. */
  add(describe: () => ConfigurationProblem): void {
    this.#count++;
    if (this.#described.length < MAX_DESCRIBED) this.#described.push(describe());
  }

  throwIfAny(): void {
    if (this.#count === 0) return;
    const problems = this.#described.toSorted((left, right) => left.line - right.line);
    const told = problems.slice(0, MAX_IN_MESSAGE).map((each) => `line ${each.line}: ${each.message}`);
    const more = this.#count - told.length;
    throw new KernelError(
      "CONFIG_INVALID",
      `${quote(this.#file, MAX_PATH)}: ${told.join("; ")}${more > 0 ? `; and ${more} more` : ""}`,
      { violations: problems.map((each) => toViolation(each)) },
    );
  }
}

/** Quotes text of the user on one line: escapes invisible characters and truncates long text. */
export function quote(text: string, maxLength = MAX_QUOTED): string {
  const characters = Array.from(text.slice(0, 2 * maxLength));
  const isCut = text.length > 2 * maxLength || characters.length > maxLength;
  const seen = characters
    .slice(0, maxLength)
    .join("")
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}`]/gu, spellOut);
  return `\`${seen}${isCut ? "…" : ""}\``;
}

function spellOut(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function toViolation({ line, field, rule, message }: ConfigurationProblem): Violation {
  return { field, rule, message: `line ${line}: ${message}` };
}
