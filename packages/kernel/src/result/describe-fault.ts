import type { Redactor } from "../tool/tool.ts";
import { redactText } from "./redact.ts";

/** What was thrown, as text for a log or a message, whatever it is. Never throws. */
export function describeFault(fault: unknown, redactors: readonly Redactor[] = []): string {
  try {
    const text = fault instanceof Error ? fault.message : fault;
    return redactText(String(text).toWellFormed(), redactors);
  } catch {
    return "something that has no text";
  }
}
