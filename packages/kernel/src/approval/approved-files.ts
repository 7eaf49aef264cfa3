import { isJsonObject, type JsonValue } from "@narthex/contracts";

/** A file that an approval is bound to, in its state when a user was asked. */
export interface ApprovedFile {
  /** Relative to the workspace. */
  readonly path: string;
  /** The hash of its content, or another state: `absent`, `unknown`, `directory`. */
  readonly state: string;
}

/** Returns a key that is equal for the same files in the same state. */
export function filesKey(files: readonly ApprovedFile[]): string {
  return JSON.stringify(files.map(({ path, state }) => [path, state]));
}

/** Returns the paths of files whose state has changed. */
export function changedFiles(before: readonly ApprovedFile[], now: readonly ApprovedFile[]): string[] {
  const states = new Map(before.map(({ path, state }) => [path, state]));
  return now.filter(({ path, state }) => states.get(path) !== state).map(({ path }) => path);
}

/**
 * Describes the files for users. The paths come from the agent: callers make invisible characters visible before they
 * show them.
 */
export function describeFiles(files: readonly ApprovedFile[]): string {
  const paths = files.filter(({ state }) => state !== ABSENT).map(({ path }) => JSON.stringify(path));
  return paths.length === 0 ? "" : `, as long as ${paths.join(" and ")} ${paths.length === 1 ? "is" : "are"} unchanged`;
}

/** State of a file that does not exist. */
export const ABSENT = "absent";
/** State of a file that the kernel cannot inspect, such as one outside the workspace. */
export const UNKNOWN = "unknown";

/** Whether a standing approval can be bound to these files. */
export function canBind(files: readonly ApprovedFile[]): boolean {
  return files.every(({ state }) => !state.endsWith(UNKNOWN));
}

export function filesToJson(files: readonly ApprovedFile[]): JsonValue {
  return files.map(({ path, state }) => ({ path, state }));
}

/** Parses a stored list of files; undefined if it is damaged. */
export function filesFromJson(value: JsonValue | undefined): ApprovedFile[] | undefined {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return undefined;
  const files = value.flatMap((file) => {
    const { path, state } = isJsonObject(file) ? file : {};
    return typeof path === "string" && typeof state === "string" ? [{ path, state }] : [];
  });
  return files.length === value.length ? files : undefined;
}
