import { ContentPlace, ContentRole, KernelError, toHex } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import { commitContent } from "../../ledger/commitment.ts";
import type { FileAccess, VaultAccess } from "../../tool/tool.ts";
import { GivenCollector } from "../../result/given-collector.ts";
import { vaultRedactor } from "../../secret/vault-redactor.ts";
import type { FileState, PreparedOperation } from "../../workspace-files.ts";
import { chargeContent } from "../charge-stored.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { FileLog } from "../file-log.ts";
import { recordPlaced } from "../record-placed.ts";
import { takeOnLabels } from "../take-on-labels.ts";
import { SECRET } from "../../label/secret-label.ts";

/** Who placed it reads it, and nobody else. */
const SECRET_MODE = 0o600;

export interface VaultPorts {
  readonly guard: () => void;
  readonly signal: () => AbortSignal;
  /** The same call's files. */
  readonly files: FileAccess;
}

/**
 * Copies out of the vault, as one call may.
 *
 * SECURITY: no sandbox holds vault and workspace at once. One reads the file, once for its hash and once for its bytes;
 * another places what has that hash. The tool never holds a byte of it, and nothing of it is stored but the hash, whose
 * role gives no session the right to name it.
 */
export function vaultFor(call: PermittedCall, ports: VaultPorts, kernel: KernelParts): VaultAccess {
  return {
    async copyTo(source, destination) {
      ports.guard();
      for (const effect of ["fs_read", "fs_write"] as const) {
        if (call.effects.includes(effect)) continue;
        const message = `\`${call.registered.id}\` did not declare the effect \`${effect}\``;
        throw new KernelError("UNDECLARED_EFFECT", message);
      }
      const looked = await look(call, source, ports, kernel);
      ports.guard();
      await place(call, source, looked, destination, ports, kernel);
      return { bytes: looked.size, hash: toHex(looked.digest) };
    },
  };
}

interface Looked {
  readonly opened: string;
  readonly digest: Uint8Array;
  readonly size: number;
}

/** Reads the file once, for its hash and its size. */
async function look(call: PermittedCall, source: string, ports: VaultPorts, kernel: KernelParts): Promise<Looked> {
  const { trail } = call;
  const prepared = await prepareRead(call, source, ports, kernel);
  try {
    ports.guard();
    const [opened = ""] = prepared.opened;
    if (opened !== source) kernel.decideAgain(call, [{ kind: "vault", prefixes: [`/${opened}`] }], kernel);
    // Before a byte is read: the session is labelled, however the call ends.
    await takeOnLabels(call, [SECRET], kernel);
    ports.guard();
    const given = new GivenCollector();
    for await (const chunk of await contentOf(prepared)) {
      chargeContent(call, chunk.length);
      given.write(chunk);
    }
    const { digest, size, head } = given.finish();
    const redactor = vaultRedactor(head);
    if (redactor !== undefined) kernel.secrets.learn(redactor);
    trail.isRedacted = true;
    trail.files ??= new FileLog();
    trail.files.readings.push({ path: `vault:/${opened}`, offset: 0, size, hash: toHex(digest) });
    const content = { role: ContentRole.STAGED, digest, size, place: ContentPlace.NONE, labels: trail.labels };
    const committed = commitContent(content, kernel.random);
    trail.attach(committed.item);
    trail.files.staged.push(committed);
    return { opened, digest, size };
  } catch (fault) {
    await prepared.abandon();
    throw fault;
  }
}

function prepareRead(
  { live }: PermittedCall,
  path: string,
  { signal }: VaultPorts,
  { vault }: KernelParts,
): Promise<PreparedOperation> {
  if (vault === undefined) {
    throw new KernelError(
      "SANDBOX_UNAVAILABLE",
      "this kernel has no vault; name its directory as `vault` in narthex.yaml",
    );
  }
  return vault.prepareRead({ path, workspace: live.session.workspace }, signal());
}

async function contentOf(prepared: PreparedOperation): Promise<AsyncIterable<Uint8Array>> {
  const answer = await prepared.commit();
  if (answer.kind !== "read") throw new KernelError("INTERNAL", "a reading was not answered by content");
  return answer.content;
}

/** Reads it a second time, straight to its place, which takes it only if it still has the same hash. */
async function place(
  call: PermittedCall,
  source: string,
  { opened, digest, size }: Looked,
  destination: string,
  ports: VaultPorts,
  kernel: KernelParts,
): Promise<void> {
  const expected = await inspect(call, destination, ports, kernel);
  if (expected.kind !== "absent" && expected.kind !== "file") {
    throw new KernelError("NOT_A_FILE", `\`${destination}\` is there already, and is no file`);
  }
  const before = { kind: "file", hash: toHex(digest), size, mode: SECRET_MODE } as const;
  const { workspace } = call.live.session;
  // What it replaces is the workspace's own, unless the vault placed that, too.
  if (!kernel.placed.has(workspace, destination)) call.trail.placing = destination;
  await recordPlaced(call, kernel.placed.add(workspace, destination, before.hash), kernel);
  const prepared = await prepareRead(call, source, ports, kernel);
  try {
    ports.guard();
    if (prepared.opened[0] !== opened) throw changed(source);
    const content = await contentOf(prepared);
    await ports.files.run({ kind: "restore", path: destination, expected, before, content });
  } finally {
    await prepared.abandon();
  }
}

function changed(source: string): KernelError {
  return new KernelError("EXECUTION_FAILED", `\`${source}\` changed while it was copied; nothing was placed`);
}

/** What the copy would replace: only to be found there again when it is placed, and told to nobody. */
async function inspect(
  { live }: PermittedCall,
  path: string,
  { signal }: VaultPorts,
  { files }: KernelParts,
): Promise<FileState> {
  if (files === undefined) throw new KernelError("SANDBOX_UNAVAILABLE", "this kernel has no files to work on");
  const place = { workspace: live.session.workspace, access: "write" } as const;
  const answer = await (await files.prepare(place, { kind: "inspect", path }, signal())).commit();
  return answer.kind === "inspect" ? answer.state : { kind: "other" };
}
