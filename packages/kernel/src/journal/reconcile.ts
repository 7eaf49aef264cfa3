import { createBlake3, type JsonValue, KernelError, parseJson, toHex } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { ReconcileContext, Reconciliation, UnsettledIntent, VaultCopy } from "../tool/tool.ts";
import { copyBytes } from "../result/copy-bytes.ts";
import type { FileResult, FileOperation } from "../workspace-files.ts";
import { type Intent, intentFromRow, intentKey } from "./intent.ts";
import { settleIntent } from "./settle-intent.ts";

const MAX_INTENTS = 100_000;

/**
 * Settles intents after a crash: tools that can tell whether their effect happened settle their own calls. The others
 * stay unknown.
 */
export async function reconcileIntents(
  kernel: KernelParts,
): Promise<{ readonly settled: number; readonly unknown: number }> {
  const rows = await kernel.store.listState("intents", "", MAX_INTENTS);
  let settled = 0;
  let unknown = 0;
  const openRuns = new Set<string>();
  for (const row of rows) {
    const intent = intentFromRow(row);
    if (intent.settledIndex !== undefined) continue;
    try {
      if (await reconcile(intent, kernel)) settled++;
      else {
        unknown++;
        if (intent.run !== undefined) openRuns.add(intent.run);
      }
    } catch (fault) {
      // If the tool cannot find out, a person settles the call.
      unknown++;
      if (intent.run !== undefined) openRuns.add(intent.run);
      kernel.logger("warn", "a call could not be reconciled", { intent: row.key, cause: String(fault) });
    }
  }
  await kernel.programs?.forgetRuns?.(openRuns);
  return { settled, unknown };
}

async function reconcile(intent: Intent, kernel: KernelParts): Promise<boolean> {
  const [name = "", version = ""] = intent.tool.split("@");
  const registered = kernel.registry.resolve(name, version);
  const live = await kernel.sessions.find(intent.sessionId);
  if (intent.isCopied === true) return false;
  if (await isKilled(intent, kernel)) {
    await settleIntent(intent, { answer: "killed", by: "reconciled" }, kernel);
    return true;
  }
  if (intent.isRedacted === true) return false;
  if (registered?.tool.reconcile === undefined || live === undefined) return false;
  const { sessionId, requestId } = intent;
  const { tenant } = live.session;
  const answer = await askTool(
    registered,
    { sessionId, requestId, tenant, session: live.toolSession, input: await readInput(intent, kernel) },
    kernel,
  );
  if (answer === "did_not_happen") {
    await settleIntent(intent, { answer, by: "reconciled" }, kernel);
    return true;
  }
  // SECURITY: a call may run again only if the tool states `did_not_happen`; an unexpected value never counts as that.
  if (typeof answer !== "object" || !("happened" in answer)) return false;
  const found = { registered, output: answer.happened };
  await settleIntent(intent, { answer: "happened", by: "reconciled" }, kernel, found);
  return true;
}

/** Whether no program of the call can still be running, where programs were its only possible source of changes. */
async function isKilled(intent: Intent, { programs }: KernelParts): Promise<boolean> {
  const { run, sessionId, requestId } = intent;
  return run !== undefined && (await programs?.haveEnded?.(run, intentKey(sessionId, requestId))) === true;
}

/** The call's input in its canonical form, from wherever it is stored. */
async function readInput(intent: Intent, kernel: KernelParts): Promise<JsonValue> {
  const content = await kernel.content.find(intent.sessionId, intent.inputDigest);
  return parseJson(await kernel.content.read(content, 0, 0));
}

/**
 * Asks the tool what became of a call. A tool that exceeds its own time-out counts as `unknown`, so that it does not
 * delay the start.
 */
async function askTool(
  { tool }: RegisteredTool,
  intent: UnsettledIntent,
  kernel: KernelParts,
): Promise<Reconciliation> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"unknown">((resolve) => {
    timer = setTimeout(() => resolve("unknown"), tool.bounds.timeoutMs);
  });
  try {
    return (
      (await Promise.race([tool.reconcile?.(intent, contextFor(intent.session.workspace, kernel)), late])) ?? "unknown"
    );
  } finally {
    clearTimeout(timer);
  }
}

const MAX_READ_BYTES = 16 * 1024 * 1024;

function contextFor(workspace: string, kernel: KernelParts): ReconcileContext {
  const run = async (operation: FileOperation): Promise<FileResult> => {
    if (kernel.files === undefined) throw new KernelError("SANDBOX_UNAVAILABLE", "this kernel has no files to work on");
    const place = { workspace, access: "read" } as const;
    return await (await kernel.files.prepare(place, operation, new AbortController().signal)).commit();
  };
  return {
    async inspectFile(path) {
      const answer = await run({ kind: "inspect", path });
      if (answer.kind !== "inspect") throw new KernelError("INTERNAL", "an inspection was not answered by a state");
      return answer.state;
    },
    async readFile(path) {
      const answer = await run({ kind: "read", path, offset: 0, limit: MAX_READ_BYTES + 1 });
      if (answer.kind !== "read") throw new KernelError("INTERNAL", "a reading was not answered by what was read");
      const chunks = await Array.fromAsync(answer.content, copyBytes);
      const bytes = Buffer.concat(chunks);
      if (bytes.length > MAX_READ_BYTES) throw new KernelError("RESOURCE_EXCEEDED", "the file is too large to compare");
      return bytes;
    },
    inspectVault: (path) => inspectVault(path, workspace, kernel),
    wasPlaced: (path, hash) => kernel.placedFiles.hashAt(workspace, path) === hash,
    findArtifact: async (tenant, artifactId) => {
      const found = await kernel.artifacts.find(tenant, artifactId);
      return found && { ...found.artifact, requestId: found.requestId };
    },
  };
}

/**
 * SECURITY: the content is hashed while it is read and never kept. A link to another file is refused, because only the
 * decision on a call may allow that.
 */
async function inspectVault(path: string, workspace: string, { vault }: KernelParts): Promise<VaultCopy> {
  if (vault === undefined) throw new KernelError("SANDBOX_UNAVAILABLE", "this kernel has no vault");
  const prepared = await vault.prepareRead({ path, workspace }, new AbortController().signal);
  if (prepared.opened[0] !== path) {
    await prepared.abandon();
    throw new KernelError("PATH_ESCAPE", "a link leads to another file of the vault");
  }
  const answer = await prepared.commit();
  if (answer.kind !== "read") throw new KernelError("INTERNAL", "a reading was not answered by what was read");
  const hasher = createBlake3();
  let bytes = 0;
  for await (const chunk of answer.content) {
    hasher.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, hash: toHex(hasher.digest()) };
}
