import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, KernelError, toHex } from "@narthex/contracts";

/**
 * What an approval for longer than one call covers: calls of the same tool that are equal in the fields named here and
 * may differ in everything else. The tool chooses the scope; without one, only the same input is covered.
 */
export type ApprovalScope = CommandScope | PathScope | HostScope;

/**
 * One program with its literal arguments.
 *
 * SECURITY: a tool gives this scope only for a plain command: no interpreter, no wrapper, no redirection, no variables,
 * nothing that is expanded. Otherwise the words would not say what is run.
 */
export interface CommandScope {
  readonly kind: "command";
  readonly words: readonly string[];
  /** The same command as policy sees it. */
  readonly line: string;
  /** The directory in which it runs; empty for the default. */
  readonly directory: string;
  readonly network: boolean;
}

/** These paths, with any content. Relative to the workspace. */
export interface PathScope {
  readonly kind: "path";
  readonly paths: readonly string[];
}

/** One host, with any request. */
export interface HostScope {
  readonly kind: "host";
  readonly host: string;
  readonly port: number;
  /** Whether methods other than GET and HEAD are covered. */
  readonly sends: boolean;
}

/** The stored scope of a session approval. */
export type CoveredScope =
  | Omit<CommandScope, "line">
  /** Only the first words of a command, as the user chose. */
  | (Omit<CommandScope, "line" | "kind"> & { readonly kind: "command_prefix" })
  | PathScope
  | HostScope
  | { readonly kind: "input"; readonly digest: string };

/**
 * Converts a scope to the one stored with a session approval. Throws INVALID_INPUT if it cannot be shortened to `words`
 * words.
 */
export function toCoveredScope(
  scope: ApprovalScope | undefined,
  inputDigest: Uint8Array,
  words?: number,
): CoveredScope {
  if (words !== undefined) return shorten(scope, words);
  if (scope === undefined) return { kind: "input", digest: toHex(inputDigest) };
  if (scope.kind !== "command") return scope;
  const { line: _, ...kept } = scope;
  return kept;
}

function shorten(scope: ApprovalScope | undefined, words: number): CoveredScope {
  if (scope?.kind !== "command") {
    throw unfit("words", "this call has no words to shorten: only a plain command of one program has");
  }
  const most = scope.words.length;
  // A program name alone would cover everything that the program can be told to do.
  const least = Math.min(2, most);
  if (!Number.isSafeInteger(words) || words < least || words > most) {
    throw unfit("words", `this command has ${most} words: take ${least} to ${most} of them`);
  }
  const { directory, network } = scope;
  if (words === most) return { kind: "command", words: scope.words, directory, network };
  return { kind: "command_prefix", words: scope.words.slice(0, words), directory, network };
}

/** Whether a stored scope covers a call. */
export function coversScope(kept: CoveredScope, scope: ApprovalScope | undefined, inputDigest: Uint8Array): boolean {
  if (kept.kind === "input") return kept.digest === toHex(inputDigest);
  if (scope === undefined) return false;
  if (kept.kind !== "command_prefix") return canonicalJson(kept) === canonicalJson(toCoveredScope(scope, inputDigest));
  if (scope.kind !== "command" || scope.words.length < kept.words.length) return false;
  const isSamePlace = scope.directory === kept.directory && scope.network === kept.network;
  return isSamePlace && kept.words.every((word, at) => word === scope.words[at]);
}

/**
 * Describes a scope for users. It quotes text from the agent: callers make invisible characters visible before they
 * show it.
 */
export function describeScope(kept: CoveredScope): string {
  switch (kept.kind) {
    case "input":
      return "this call again, with exactly this input";
    case "path":
      return `${kept.paths.map(quote).join(" and ")}, whatever the content`;
    case "host":
      return `${quote(`${kept.host}:${kept.port}`)}, ${kept.sends ? "also to send" : "only to read"}`;
    case "command":
      return `the command ${kept.words.map(quote).join(" ")}${placeOf(kept)}`;
    case "command_prefix":
      return `commands that begin with ${kept.words.map(quote).join(" ")}${placeOf(kept)}`;
  }
}

function placeOf({ directory, network }: Pick<CommandScope, "directory" | "network">): string {
  return `${directory === "" ? "" : ` in ${quote(directory)}`}${network ? " with network" : ""}`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

export function scopeToJson(kept: CoveredScope): JsonObject {
  if (kept.kind === "path") return { ...kept, paths: [...kept.paths] };
  if (kept.kind === "command" || kept.kind === "command_prefix") return { ...kept, words: [...kept.words] };
  return { ...kept };
}

/** Parses a stored scope. Only this module writes these rows, so a damaged one is an internal error. */
export function scopeFromJson(value: JsonValue | undefined): CoveredScope {
  const row = isJsonObject(value) ? value : {};
  const { kind, digest, host, port, sends, directory, network } = row;
  if (kind === "input" && typeof digest === "string") return { kind, digest };
  if (kind === "path") return { kind, paths: textsOf(row["paths"]) };
  if (kind === "host" && typeof host === "string" && typeof port === "number" && typeof sends === "boolean") {
    return { kind, host, port, sends };
  }
  if (kind !== "command" && kind !== "command_prefix") throw damaged();
  if (typeof directory !== "string" || typeof network !== "boolean") throw damaged();
  return { kind, words: textsOf(row["words"]), directory, network };
}

function textsOf(value: unknown): string[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every((item) => typeof item === "string")) throw damaged();
  return value;
}

function damaged(): KernelError {
  return new KernelError("INTERNAL", "the row of an answer for a session is damaged");
}

function unfit(field: string, message: string): KernelError {
  return new KernelError("INVALID_INPUT", message, { violations: [{ field, rule: "range", message }] });
}
