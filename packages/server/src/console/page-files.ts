import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { NodeRequest, NodeResponse } from "../service/http-listener.ts";

interface PageFile {
  readonly bytes: Buffer;
  readonly contentType: string;
  readonly etag: string;
}

/** The files of the page, by name. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
]);
/** Beside this file in the checkout, beside the bundle in the published package. */
const DIRECTORY = fileURLToPath(new URL("./page/", import.meta.url));

/** Reads all files once, so that no file access ever depends on a requested path. */
export async function readPageFiles(): Promise<PageFiles> {
  const names = await readdir(DIRECTORY);
  const files = await Promise.all(names.map(async (name) => [name, await readPageFile(name)] as const));
  return new Map(files.flatMap(([name, file]) => (file === undefined ? [] : [[name, file]])));
}

async function readPageFile(name: string): Promise<PageFile | undefined> {
  const contentType = CONTENT_TYPES.get(extname(name));
  if (contentType === undefined) return undefined;
  const bytes = await readFile(join(DIRECTORY, name));
  return { bytes, contentType, etag: `"${createHash("sha256").update(bytes).digest("base64url")}"` };
}

/** Sends a file, or the status that the browser has it already. */
export function sendPageFile(request: NodeRequest, response: NodeResponse, file: PageFile): void {
  response.setHeader("etag", file.etag);
  response.setHeader("cache-control", "no-cache");
  if (request.headers["if-none-match"] === file.etag) {
    response.statusCode = 304;
    response.end();
    return;
  }
  response.setHeader("content-type", file.contentType);
  response.setHeader("content-length", file.bytes.length);
  response.end(file.bytes);
}
