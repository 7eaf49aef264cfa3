/**
 * Entry point inside the sandbox of a module tool: loads the module, then describes its tools or runs one of them. Its
 * source text is passed into the sandbox, so it must not use anything outside itself, nor an import that a bundler
 * would resolve.
 *
 * SECURITY: the module runs in the same process and can do everything this function can. All of it stays inside the
 * sandbox, and the output is parsed as untrusted, like that of any program.
 */
export async function runModule(): Promise<void> {
  const { text } = process.getBuiltinModule("node:stream/consumers");
  const { registerHooks } = process.getBuiltinModule("node:module");
  const { pathToFileURL } = process.getBuiltinModule("node:url");
  const { format } = process.getBuiltinModule("node:util");
  const [path = "", task = "", wanted = ""] = process.argv.slice(2);
  const stdout = process.stdout.write.bind(process.stdout);
  // Output of the module goes to stderr; only the response is written to stdout.
  process.stdout.write = process.stderr.write.bind(process.stderr);

  const log = (...words: readonly unknown[]): void => void process.stderr.write(`${format(...words)}\n`);

  type Data = Record<string, unknown>;
  const isObject = (value: unknown): value is Data => typeof value === "object" && value !== null;
  const snakeCase = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const plain = (value: unknown): unknown => (typeof value === "function" ? "a function" : value);

  /** Adds the defaults that `defineTool` would add. */
  function describe(tool: Data): Data {
    const given = Object.entries(tool).filter(([key, value]) => key !== "run" && value !== undefined);
    const bounds = isObject(tool["bounds"]) ? tool["bounds"] : {};
    return {
      version: "1.0.0",
      effects: [],
      determinism: "nondeterministic",
      tier: "side_effecting",
      ...Object.fromEntries(given.map(([key, value]) => [snakeCase(key), plain(value)])),
      bounds: Object.fromEntries(Object.entries(bounds).map(([key, value]) => [snakeCase(key), value])),
    };
  }

  function findTools(exported: Data): Data[] {
    const found = Object.values(exported).flatMap((value): unknown[] => (Array.isArray(value) ? value : [value]));
    return [...new Set(found)].filter(
      (value): value is Data => isObject(value) && typeof value["run"] === "function" && "name" in value,
    );
  }

  function answer(value: unknown): Promise<void> {
    const json = JSON.stringify(value);
    if (json === undefined) throw new Error("the tool answered nothing that JSON can hold");
    return new Promise((resolve) => void stdout(json, () => resolve()));
  }

  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "narthex"
        ? { url: "narthex:define-tool", format: "module", shortCircuit: true }
        : next(specifier, context),
    load: (url, context, next) =>
      url === "narthex:define-tool"
        ? { format: "module", source: "export const defineTool = (tool) => tool;", shortCircuit: true }
        : next(url, context),
  });
  // Prints a short stack trace, because the kernel shows only the end of stderr.
  process.on("uncaughtException", (fault: unknown) => {
    log(fault instanceof Error ? fault.stack : fault);
    process.exit(1);
  });
  Error.stackTraceLimit = 3;
  const tools = findTools((await import(pathToFileURL(path).href)) as Data);
  if (task === "describe") await answer(tools.map(describe));
  else {
    const tool = tools.find(({ name }) => name === wanted);
    const run = tool?.["run"];
    if (typeof run !== "function") throw new Error(`the module exports no tool ${wanted} any more`);
    const input: unknown = JSON.parse(await text(process.stdin));
    await answer(await (run.call(tool, input, { log }) as unknown));
  }
  // Does not wait for timers and other handles that the module left open.
  process.exit(0);
}
