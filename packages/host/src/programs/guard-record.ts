import { createHash } from "node:crypto";
import { KernelError } from "@narthex/contracts";
import { NO_FINDINGS, type TrustedFindings } from "../trusted-paths/trusted-findings.ts";
import type { ProtectedScan } from "./scan-protected.ts";
import type { FoundEntry } from "./held-directory.ts";

/** State of a workspace's protected paths before programs ran there, stored in the home. SPEC: docs/formats/home.md. */
export interface GuardRecord {
  readonly workspace: string;
  /** Sessions whose programs ran. */
  readonly sessions: readonly string[];
  /** One for each different way in which programs running at the same time were guarded. */
  readonly scans: readonly RecordedScan[];
  /** Why restoring failed; empty if it was not tried yet. */
  readonly problem: string;
  /** Person who reviewed the workspace and accepted its state; empty if none exists. */
  readonly acceptedBy: string;
}

export interface RecordedScan {
  readonly scan: Omit<ProtectedScan, "workspace" | "sources">;
  readonly present: ReadonlyMap<string, FoundEntry>;
  readonly trusted: TrustedFindings;
  /** Paths that calls were allowed to change meanwhile. */
  readonly allowed: readonly string[];
}

const FORMAT = 1;

/** Returns the file name of a workspace's record in the home. */
export function recordName(workspace: string): string {
  return `${createHash("sha256").update(workspace).digest("hex").slice(0, 32)}.json`;
}

export function encodeRecord(record: GuardRecord): string {
  const { workspace, sessions, scans, problem, acceptedBy } = record;
  const encoded = scans.map(({ scan: { bases, paths, git }, present, trusted, allowed }) => ({
    bases,
    paths,
    git: git ?? "",
    trusted,
    allowed,
    present: [...present].map(([path, { kind, inode, target, mode, content }]) => ({
      path,
      kind,
      inode: String(inode),
      mode,
      ...(target !== undefined && { target }),
      ...(content !== undefined && { content: content.toString("base64") }),
    })),
  }));
  return JSON.stringify({ format: FORMAT, workspace, sessions, scans: encoded, problem, accepted_by: acceptedBy });
}

/** Throws HOME_UNSAFE if the file is damaged. */
export function decodeRecord(text: string, name: string): GuardRecord {
  try {
    const record = readObject(JSON.parse(text));
    const workspace = readText(record["workspace"]);
    if (record["format"] !== FORMAT || recordName(workspace) !== name)
      throw new TypeError("another format or workspace");
    return {
      workspace,
      sessions: readList(record["sessions"]).map(readText),
      scans: readList(record["scans"]).map(decodeScan),
      problem: readText(record["problem"]),
      acceptedBy: readText(record["accepted_by"]),
    };
  } catch (cause) {
    const message = `\`guards/${name}\` in the kernel's home is damaged: what was protected in its workspace is not known`;
    throw new KernelError("HOME_UNSAFE", message, { cause });
  }
}

function decodeScan(value: unknown): RecordedScan {
  const { bases, paths, git, present, trusted, allowed } = readObject(value);
  const isGit = git === "guarded" || git === "configurable";
  return {
    scan: { bases: readList(bases).map(readText), paths: readList(paths).map(readText), git: isGit ? git : undefined },
    present: new Map(readList(present).map(decodeFound)),
    // Earlier versions did not write this field.
    trusted: trusted === undefined ? NO_FINDINGS : decodeFindings(readObject(trusted)),
    allowed: readList(allowed).map(readText),
  };
}

function decodeFindings({ paths, directories, shapes }: Record<string, unknown>): TrustedFindings {
  return {
    paths: readList(paths).map(readText),
    directories: readList(directories).map(readText),
    shapes: readList(shapes).map(readText),
  };
}

function decodeFound(value: unknown): [path: string, found: FoundEntry] {
  const { path, kind, inode, mode, target, content } = readObject(value);
  if (kind !== "directory" && kind !== "file" && kind !== "link" && kind !== "other") throw new TypeError("kind");
  if (typeof mode !== "number") throw new TypeError("mode");
  return [
    readText(path),
    {
      kind,
      device: 0n,
      inode: BigInt(readText(inode)),
      mode,
      links: 1,
      target: target === undefined ? undefined : readText(target),
      content: content === undefined ? undefined : Buffer.from(readText(content), "base64"),
    },
  ];
}

function readObject(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new TypeError("not an object");
  return value as Record<string, unknown>;
}

function readList(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TypeError("not a list");
  return value;
}

function readText(value: unknown): string {
  if (typeof value !== "string") throw new TypeError("not a text");
  return value;
}
