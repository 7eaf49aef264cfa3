import { createRequire } from "node:module";
import type * as Undici from "undici";
import { SMALL_BYTES } from "./bodies.ts";

const require = createRequire(new URL("../../../packages/host/package.json", import.meta.url));

/** The very copy that the gate uses: another version would compare versions. */
export const undici = require("undici") as typeof Undici;
const { version } = require("undici/package.json") as { readonly version: string };
export const UNDICI = `undici ${version}`;

/** Reads a body as it comes, and rejects unless it is as long as it must be. */
export async function readBody(body: AsyncIterable<Uint8Array>): Promise<void> {
  let size = 0;
  for await (const chunk of body) size += chunk.length;
  if (size !== SMALL_BYTES) throw new Error(`a body of ${size} bytes`);
}
