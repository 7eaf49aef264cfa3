import type { Violation } from "@narthex/contracts";
import { visible } from "./visible.ts";

/** Returns a line for each broken rule; none if the message already says all of it, including the fields. */
export function formatViolations(message: string, violations: readonly Omit<Violation, "rule">[]): string[] {
  const isSaid = ({ field, message: said }: Omit<Violation, "rule">): boolean =>
    message.includes(`${field}: ${said}`) ||
    (message.includes(said) && (field === "$" || field === "" || said.includes(field)));
  if (violations.every(isSaid)) return [];
  return violations.map((violation) => `  ${visible(`${violation.field}: ${violation.message}`)}`);
}
