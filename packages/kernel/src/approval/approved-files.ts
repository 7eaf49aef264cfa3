import { isJsonObject, type JsonValue } from "@narthex/contracts";

/** A file that an approval is bound to, as it was when a person was asked. */
export interface ApprovedFile {
  /** Relative to the workspace. */
  readonly path: string;
  /** The hash of its content, or what else is there: `absent`, `unknown`, `directory`. */
  readonly state: string;
}

/** Equal for the same files in the same state. */
export function filesKey(files: readonly ApprovedFile[]): string {
  return JSON.stringify(files.map(({ path, state }) => [path, state]));
}

/** The paths of those that are not as they were. */
export function changedFiles(before: readonly ApprovedFile[], now: readonly ApprovedFile[]): string[] {
  const states = new Map(before.map(({ path, state }) => [path, state]));
  return now.filter(({ path, state }) => states.get(path) !== state).map(({ path }) => path);
}

/** For people. The paths are the agent's: make them visible before they are shown. */
export function describeFiles(files: readonly ApprovedFile[]): string {
  const paths = files.filter(({ state }) => state !== ABSENT).map(({ path }) => JSON.stringify(path));
  return paths.length === 0 ? "" : `, as long as ${paths.join(" and ")} ${paths.length === 1 ? "is" : "are"} unchanged`;
}

/** Of a file that is not there. */
export const ABSENT = "absent";
/** Of a file that the kernel cannot look at, such as one outside of the workspace. */
export const UNKNOWN = "unknown";

/** Whether an answer for longer can be bound to these files. */
export function canBind(files: readonly ApprovedFile[]): boolean {
  return files.every(({ state }) => !state.endsWith(UNKNOWN));
}

export function filesToJson(files: readonly ApprovedFile[]): JsonValue {
  return files.map(({ path, state }) => ({ path, state }));
}

/** Undefined for a damaged list. */
export function filesFromJson(value: JsonValue | undefined): ApprovedFile[] | undefined {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return undefined;
  const files = value.flatMap((file) => {
    const { path, state } = isJsonObject(file) ? file : {};
    return typeof path === "string" && typeof state === "string" ? [{ path, state }] : [];
  });
  return files.length === value.length ? files : undefined;
}
