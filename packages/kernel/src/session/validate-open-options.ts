import { HASH_SIZE, MAX_ID_LEN, MAX_PATH_LEN, type Violation } from "@narthex/contracts";
import { createJsonReader, type JsonReader } from "../capability/json-reader.ts";
import { isNormalPath, prefixCovers } from "../capability/path-prefix.ts";
import { findLabelProblems } from "../label/check-labels.ts";
import { type OptionNames, refuseUnknownOptions } from "../refuse-unknown-options.ts";
import type { OpenSessionOptions } from "./session.ts";

/** One year. */
const MAX_SESSION_TTL_MS = 365 * 24 * 3_600_000;

const NAMES: OptionNames<OpenSessionOptions> = {
  workspace: true,
  workingDirectory: true,
  tenant: true,
  user: true,
  agent: true,
  seed: true,
  lease: true,
  ttlMs: true,
  labels: true,
  adopt: true,
};

/** Rejects unknown options before anything else is checked. Throws INVALID_INPUT. */
export function refuseUnknownOpenOptions(options: OpenSessionOptions): void {
  refuseUnknownOptions(options, NAMES, "a session");
}

/**
 * Returns all violations in the options for a new session. The lease is validated when it is created, and the host
 * validates the workspace on this machine. `present` are labels that the session has anyway.
 */
export function validateOpenOptions(
  options: OpenSessionOptions,
  present: readonly string[] = [],
): readonly Violation[] {
  const reader = createJsonReader();
  const isWorkspaceFit = checkPath(reader, options.workspace, "workspace");
  if (options.workingDirectory !== undefined && checkPath(reader, options.workingDirectory, "working_directory")) {
    if (isWorkspaceFit && !prefixCovers(options.workspace, options.workingDirectory)) {
      reader.refuse("working_directory", "no_traversal", "must lie in the workspace");
    }
  }
  for (const key of ["tenant", "user", "agent"] as const) {
    const name = options[key];
    if (name !== undefined) reader.name(name, key, MAX_ID_LEN);
  }
  if (options.seed !== undefined && options.seed.length !== HASH_SIZE) {
    reader.refuse("seed", "exact_length", `must have ${HASH_SIZE} bytes, not ${options.seed.length}`);
  }
  if (options.ttlMs !== undefined) reader.wholeNumber(options.ttlMs, "ttl_ms", { min: 1, max: MAX_SESSION_TTL_MS });
  return [...reader.violations, ...findLabelProblems(options.labels ?? [], present)];
}

/** SECURITY: `/` is not allowed as a workspace: a default lease would grant the whole machine. */
function checkPath(reader: JsonReader, path: string, field: string): boolean {
  if (reader.name(path, field, MAX_PATH_LEN) === undefined) return false;
  if (path !== "/" && isNormalPath(path)) return true;
  reader.refuse(field, "format", "must be an absolute path below `/` without `.`, `..` or empty components");
  return false;
}
