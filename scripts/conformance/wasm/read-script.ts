import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseCommands, type ScriptCommand } from "./script-command.ts";
import { blank, blankComments, type Form, splitScript } from "./split-script.ts";

export type ReadScript =
  | { readonly commands: readonly ScriptCommand[]; readonly leftOut: number }
  | { readonly unreadable: string };

/** Maximum number of attempts to remove forms before a file counts as unreadable. */
const MOST_ROUNDS = 60;

/**
 * Converts a script with wabt's `wast2json` into `directory`. Scripts of newer suites contain forms that it does not
 * know: those are left out, with everything that refers to a module that was left out, and counted.
 */
export async function readScript(file: string, directory: string): Promise<ReadScript> {
  const output = join(directory, "script.json");
  const original = await convert(file, output, []);
  if (original.ok) return await answer(output, 0);
  const whole = await convert(file, output, ["--enable-all"]);
  if (whole.ok) return await answer(output, 0);

  let text = blankComments(await readFile(file, "utf8"));
  const copy = join(directory, "script.wast");
  let leftOut = 0;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    await writeFile(copy, text);
    const attempt = await convert(copy, output, ["--enable-all"]);
    if (attempt.ok) return leftOut === 0 || text.trim() !== "" ? await answer(output, leftOut) : unreadable(whole);
    const forms = splitScript(text);
    const bad = attempt.lines.length > 0 ? atLines(forms, attempt.lines) : await findCrash(forms, text, directory);
    if (bad.size === 0) return unreadable(whole);
    const dropped = withDependents(forms, bad);
    for (const form of dropped)
      text = text.slice(0, form.start) + blank(text.slice(form.start, form.end)) + text.slice(form.end);
    leftOut += dropped.length;
  }
  return unreadable(whole);
}

interface Conversion {
  readonly ok: boolean;
  /** Lines with errors; empty if the program crashed. */
  readonly lines: readonly number[];
  readonly message: string;
}

async function convert(file: string, output: string, flags: readonly string[]): Promise<Conversion> {
  const child = spawn("wast2json", [...flags, file, "-o", output], { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", (fault) => reject(new Error(`wast2json (of Debian's wabt) does not start: ${fault.message}`)));
    child.on("close", resolve);
  });
  const lines = [...errors.matchAll(/:(\d+):\d+: error: /g)].map(([, line]) => Number(line));
  const message = /error: (.*)/.exec(errors)?.[1] ?? `wast2json ended with ${String(code ?? "a signal")}`;
  return { ok: code === 0, lines, message };
}

async function answer(output: string, leftOut: number): Promise<ReadScript> {
  return { commands: parseCommands(await readFile(output, "utf8")), leftOut };
}

function unreadable({ message }: Conversion): ReadScript {
  return { unreadable: message };
}

function atLines(forms: readonly Form[], lines: readonly number[]): Set<Form> {
  return new Set(
    lines.flatMap((line) => forms.filter(({ firstLine, lastLine }) => firstLine <= line && line <= lastLine)),
  );
}

/** Finds the form at which `wast2json` crashes, by bisection. */
async function findCrash(forms: readonly Form[], text: string, directory: string): Promise<Set<Form>> {
  const part = join(directory, "part.wast");
  const crashes = async (count: number): Promise<boolean> => {
    await writeFile(part, text.slice(0, forms[count - 1]?.end ?? 0));
    const { ok, lines } = await convert(part, join(directory, "part.json"), ["--enable-all"]);
    return !ok && lines.length === 0;
  };
  let [most, crashing] = [0, forms.length];
  if (!(await crashes(crashing))) return new Set();
  while (crashing - most > 1) {
    const middle = (most + crashing) >> 1;
    if (await crashes(middle)) crashing = middle;
    else most = middle;
  }
  const form = forms[crashing - 1];
  return new Set(form === undefined ? [] : [form]);
}

/** Forms after a module refer to it, up to the next module. */
function withDependents(forms: readonly Form[], bad: ReadonlySet<Form>): Form[] {
  let isModuleGone = false;
  return forms.filter((form) => {
    if (form.head === "module") isModuleGone = bad.has(form);
    return (
      bad.has(form) || (isModuleGone && !form.head.startsWith("assert_invalid") && form.head !== "assert_malformed")
    );
  });
}
