export { fileDelete } from "./file-delete.ts";
export { fileEdit } from "./file-edit.ts";
export { fileList } from "./file-list.ts";
export { fileMove } from "./file-move.ts";
export { fileRead } from "./file-read.ts";
export { fileWrite } from "./file-write.ts";
export { readFile } from "./read-file.ts";
