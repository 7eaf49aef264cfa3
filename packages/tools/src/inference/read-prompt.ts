import { KernelError } from "@narthex/contracts";
import type { ContentAccess } from "@narthex/kernel";

/** About a million tokens in most languages. */
export const MAX_PROMPT_BYTES = 8 * 1024 * 1024;

export interface Prompt {
  readonly text: string;
  readonly bytes: number;
}

/** Reads stored content as a prompt. Throws CONTENT_NOT_FOUND, NOT_TEXT or RESOURCE_EXCEEDED. */
export async function readPrompt(content: ContentAccess, hash: string, field: string): Promise<Prompt> {
  const { size } = await content.stat(hash);
  if (size > MAX_PROMPT_BYTES) {
    throw new KernelError("RESOURCE_EXCEEDED", `${field}: ${size} bytes; a prompt has at most ${MAX_PROMPT_BYTES}`);
  }
  const bytes = await content.read(hash, 0, size);
  try {
    return { text: strictText.decode(bytes), bytes: size };
  } catch {
    throw new KernelError("NOT_TEXT", `${field}: this content is no UTF-8 text, so it is no prompt`);
  }
}

const strictText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
