import { KernelError, type Violation } from "@narthex/contracts";
import { printable } from "./printable.ts";

const MAX_PROBLEMS = 100;
const MAX_LOCATION = 200;

/** Collects the problems of one declared schema, so that its author sees all of them at once. */
export class Problems {
  readonly #name: string;
  readonly #found: Violation[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  get count(): number {
    return this.#found.length;
  }

  /** `location` is a JSON pointer into the schema. */
  add(location: string, rule: string, message: string): void {
    if (this.#found.length >= MAX_PROBLEMS) return;
    this.#found.push({ field: `${this.#name}#${printable(location, MAX_LOCATION)}`, rule, message });
  }

  /** Throws INVALID_DECLARATION if there is any problem. */
  throwIfAny(): void {
    if (this.#found.length > 0) this.throwAll();
  }

  throwAll(): never {
    const [first] = this.#found;
    const more = this.#found.length > 1 ? ` (and ${this.#found.length - 1} more)` : "";
    throw new KernelError("INVALID_DECLARATION", `${first?.field}: ${first?.message}${more}`, {
      violations: this.#found,
    });
  }
}
