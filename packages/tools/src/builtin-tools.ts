import type { Tool } from "@narthex/kernel";
import { artifactGet, artifactPublish } from "./artifact/index.ts";
import { resultRead } from "./content/index.ts";
import { echo } from "./echo/index.ts";
import { hash } from "./hash/index.ts";

/** Every tool that comes with Narthex, sorted by name. */
export function builtinTools(): Tool[] {
  return [artifactGet, artifactPublish, echo, hash, resultRead];
}
