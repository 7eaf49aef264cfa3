/** The address of a thread's file: sources run as they are, a published package runs what was compiled from them. */
export function threadUrl(name: string, importer: string): URL {
  return new URL(`./${name}${importer.endsWith(".ts") ? ".ts" : ".js"}`, importer);
}
