import type { Violation } from "@narthex/contracts";
import { visible } from "./visible.ts";

/** A line for each broken rule; none where the message names all of them already. */
export function violationLines(message: string, violations: readonly Omit<Violation, "rule">[]): string[] {
  if (violations.every((violation) => message.includes(violation.message))) return [];
  return violations.map((violation) => `  ${visible(`${violation.field}: ${violation.message}`)}`);
}
