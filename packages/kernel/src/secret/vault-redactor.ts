import type { Redactor } from "../tool/tool.ts";
import { secretForms } from "./secret-forms.ts";

/** Only this much of a vault file is searched for in program output. */
export const MAX_SEARCHED_BYTES = 64 * 1024;
const MAX_LINES = 256;
const MAX_TEXT = 1024;
/** Shorter lines would match unrelated text. */
const MIN_LINE = 16;
const MIN_VALUE = 8;
const VALUE = /^[^=:]{1,200}[=:]\s*["']?(.*?)["']?;?\s*$/u;

const strictText = new TextDecoder("utf-8", { fatal: true });

/**
 * Creates a redactor that finds the content of a vault file elsewhere: its lines, and the values in lines like
 * `NAME=value` and `name: value`. Undefined if the content is not text or has no such line.
 */
export function vaultRedactor(content: Uint8Array): Redactor | undefined {
  const lines = linesOf(content);
  const [only = ""] = lines;
  const texts = lines.slice(0, MAX_LINES).flatMap((line) => {
    const value = VALUE.exec(line)?.[1] ?? "";
    return [line.length >= MIN_LINE ? line : "", value.length >= MIN_VALUE ? value : ""];
  });
  if (lines.length === 1 && only.length >= MIN_VALUE) texts.push(only);
  const secrets = new Set(texts.filter((text) => text !== "").flatMap((text) => secretForms(text.slice(0, MAX_TEXT))));
  return secrets.size === 0 ? undefined : { secrets: [...secrets], replacement: "[from the vault]" };
}

function linesOf(content: Uint8Array): string[] {
  try {
    const lines = strictText.decode(content.subarray(0, MAX_SEARCHED_BYTES)).split("\n");
    return lines.map((line) => line.trim()).filter((line) => line !== "");
  } catch {
    return [];
  }
}
