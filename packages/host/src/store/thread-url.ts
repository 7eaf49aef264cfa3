/** Returns the URL of a thread's file: sources run directly, a published package runs the compiled file. */
export function threadUrl(name: string, importer: string): URL {
  return new URL(`./${name}${importer.endsWith(".ts") ? ".ts" : ".js"}`, importer);
}
