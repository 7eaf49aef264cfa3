import { createReadStream } from "node:fs";
import { MAX_CALL_INPUT_BYTES, utf8 } from "@narthex/contracts";
import { CommandError } from "../terminal/command-error.ts";
import type { Invocation } from "./command.ts";

/**
 * Reads the input's bytes: from the argument itself, `@FILE`, or `-` for standard input.
 *
 * The kernel decides whether they are valid JSON of the right shape, because the refusal belongs in the ledger too.
 */
export async function readCallInput(argument: string | undefined, invocation: Invocation): Promise<Uint8Array> {
  if (argument === undefined) return utf8("{}");
  if (argument === "-") return collectInput(invocation.input);
  if (argument.startsWith("@")) return readInputFile(argument.slice(1));
  return utf8(argument);
}

async function collectInput(input: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input) {
    size += chunk.length;
    if (size > MAX_CALL_INPUT_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function readInputFile(path: string): Promise<Uint8Array> {
  try {
    return await collectInput(createReadStream(path));
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError("INVALID_INPUT", `the file \`${path}\` cannot be read`, {
      cause,
      next: "name a file you can read after the @, or - for standard input",
    });
  }
}

function tooLarge(): CommandError {
  return new CommandError("INVALID_INPUT", `the input holds more than ${MAX_CALL_INPUT_BYTES} bytes`, {
    next: "put large content with `narthex cas put` and give the tool its hash",
  });
}
