import { KernelError, type Violation } from "@narthex/contracts";
import { countCharacters } from "../capability/json-reader.ts";
import { showText } from "../capability/quote-text.ts";

/** One `.cedar` file, by the name messages use for it. */
export interface PolicyFile {
  readonly name: string;
  readonly text: string;
}

/** All load errors as one fault. */
export function policyInvalid(violations: readonly Violation[]): KernelError {
  const [first, ...others] = violations;
  const more = others.length > 0 ? ` (and ${others.length} more)` : "";
  const place = first === undefined || first.field === "" ? "" : `${first.field}: `;
  return new KernelError("POLICY_INVALID", `${place}${first?.message ?? "the policy is not valid"}${more}`, {
    violations,
  });
}

/** Lines end as Cedar ends its comments, at a line feed or a carriage return; columns count characters. */
export function placeIn(file: PolicyFile, offset: number): string {
  const lines = file.text.slice(0, offset).split(/\r\n|[\r\n]/);
  const column = countCharacters(lines.at(-1) ?? "") + 1;
  return `${showText(file.name)}:${lines.length}:${column}`;
}
