import { KernelError, type Violation } from "@narthex/contracts";
import { countCharacters } from "../capability/json-reader.ts";
import { showText } from "../capability/quote-text.ts";

/** One `.cedar` file, with the name that messages use for it. */
export interface PolicyFile {
  readonly name: string;
  readonly text: string;
}

/** Combines all load errors into one error. */
export function policyInvalid(violations: readonly Violation[]): KernelError {
  const [first, ...others] = violations;
  const more = others.length > 0 ? ` (and ${others.length} more)` : "";
  const place = first === undefined || first.field === "" ? "" : `${first.field}: `;
  return new KernelError("POLICY_INVALID", `${place}${first?.message ?? "the policy is not valid"}${more}`, {
    violations,
  });
}

/**
 * Formats the position of an offset. Lines end at a line feed or carriage return, as Cedar's comments do; columns count
 * characters.
 */
export function placeIn(file: PolicyFile, offset: number): string {
  const lines = file.text.slice(0, offset).split(/\r\n|[\r\n]/);
  const column = countCharacters(lines.at(-1) ?? "") + 1;
  return `${showText(file.name)}:${lines.length}:${column}`;
}
