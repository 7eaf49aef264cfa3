import { shellExec } from "./shell/index.ts";
import type { Tool } from "@narthex/kernel";
import { artifactGet, artifactPublish } from "./artifact/index.ts";
import { resultRead } from "./content/index.ts";
import { echo } from "./echo/index.ts";
import { fileDelete, fileEdit, fileList, fileMove, fileRead, fileWrite, readFile } from "./files/index.ts";
import { hash } from "./hash/index.ts";

/** Every tool that comes with Narthex, sorted by name. */
export function builtinTools(): Tool[] {
  return [
    artifactGet,
    artifactPublish,
    echo,
    fileDelete,
    fileEdit,
    fileList,
    fileMove,
    fileRead,
    fileWrite,
    hash,
    readFile,
    resultRead,
    shellExec,
  ];
}
