import type { Redactor } from "../tool/tool.ts";
import { redactText } from "./redact.ts";

/** Describes any thrown value as text for a log line or a message. Never throws. */
export function describeFault(fault: unknown, redactors: readonly Redactor[] = []): string {
  try {
    const text = fault instanceof Error ? fault.message : fault;
    return redactText(String(text).toWellFormed(), redactors);
  } catch {
    return "something that has no text";
  }
}
