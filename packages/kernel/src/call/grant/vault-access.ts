import { ContentPlace, ContentRole, KernelError, toHex } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import { commitContent } from "../../ledger/commitment.ts";
import type { FileAccess, VaultAccess } from "../../tool/tool.ts";
import { UnstoredCollector } from "../../result/unstored-collector.ts";
import { vaultRedactor } from "../../secret/vault-redactor.ts";
import type { FileState, PreparedOperation } from "../../workspace-files.ts";
import { chargeContent } from "../charge-stored.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { FileTrace } from "../file-trace.ts";
import { recordPlacedFile } from "../record-placed-file.ts";
import { adoptLabels } from "../adopt-labels.ts";
import { SECRET } from "../../label/secret-label.ts";

/** Only the owner of a placed file has access to it. */
const SECRET_MODE = 0o600;

export interface VaultPorts {
  readonly guard: () => void;
  readonly signal: () => AbortSignal;
  /** File access of the same call. */
  readonly files: FileAccess;
}

/**
 * Creates vault access for one call, which copies files out of the vault.
 *
 * SECURITY: no sandbox holds vault and workspace at once. One reads the file, once for its hash and once for its bytes;
 * another places content with that hash. The tool never holds a byte of it, and only the hash is stored, in a role that
 * gives no session the right to name it.
 */
export function createVaultAccess(call: PermittedCall, ports: VaultPorts, kernel: KernelParts): VaultAccess {
  return {
    async copyTo(source, destination) {
      ports.guard();
      for (const effect of ["fs_read", "fs_write"] as const) {
        if (call.effects.includes(effect)) continue;
        const message = `\`${call.registered.id}\` did not declare the effect \`${effect}\``;
        throw new KernelError("UNDECLARED_EFFECT", message);
      }
      const looked = await inspectSource(call, source, ports, kernel);
      ports.guard();
      await place(call, source, looked, destination, ports, kernel);
      return { bytes: looked.size, hash: toHex(looked.digest) };
    },
  };
}

interface InspectedSource {
  readonly opened: string;
  readonly digest: Uint8Array;
  readonly size: number;
}

/** Reads the file a first time, for its hash and its size. */
async function inspectSource(
  call: PermittedCall,
  source: string,
  ports: VaultPorts,
  kernel: KernelParts,
): Promise<InspectedSource> {
  const { trail } = call;
  const prepared = await prepareRead(call, source, ports, kernel);
  try {
    ports.guard();
    const [opened = ""] = prepared.opened;
    if (opened !== source) kernel.redecide(call, [{ kind: "vault", prefixes: [`/${opened}`] }], kernel);
    // The session is labelled before a byte is read, however the call ends.
    await adoptLabels(call, [SECRET], kernel);
    ports.guard();
    const given = new UnstoredCollector();
    for await (const chunk of await contentOf(prepared)) {
      chargeContent(call, chunk.length);
      given.write(chunk);
    }
    const { digest, size, head } = given.finish();
    const redactor = vaultRedactor(head);
    if (redactor !== undefined) kernel.secrets.learn(redactor);
    trail.isRedacted = true;
    trail.fileTrace ??= new FileTrace();
    trail.fileTrace.readings.push({ path: `vault:/${opened}`, offset: 0, size, hash: toHex(digest) });
    const content = { role: ContentRole.STAGED, digest, size, place: ContentPlace.NONE, labels: trail.labels };
    const committed = commitContent(content, kernel.random);
    trail.attach(committed.item);
    trail.fileTrace.staged.push(committed);
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

/** Reads the file a second time, straight to its destination, which accepts it only if it still has the same hash. */
async function place(
  call: PermittedCall,
  source: string,
  { opened, digest, size }: InspectedSource,
  destination: string,
  ports: VaultPorts,
  kernel: KernelParts,
): Promise<void> {
  const expected = await inspectDestination(call, destination, ports, kernel);
  if (expected.kind !== "absent" && expected.kind !== "file") {
    throw new KernelError("NOT_A_FILE", `\`${destination}\` is there already, and is no file`);
  }
  const before = { kind: "file", hash: toHex(digest), size, mode: SECRET_MODE } as const;
  const { workspace } = call.live.session;
  // The replaced content belongs to the workspace, unless the vault placed that, too.
  if (!kernel.placedFiles.has(workspace, destination)) call.trail.vaultDestination = destination;
  await recordPlacedFile(call, kernel.placedFiles.add(workspace, destination, before.hash), kernel);
  const prepared = await prepareRead(call, source, ports, kernel);
  try {
    ports.guard();
    if (prepared.opened[0] !== opened) throw sourceChanged(source);
    const content = await contentOf(prepared);
    await ports.files.run({ kind: "restore", path: destination, expected, before, content });
  } finally {
    await prepared.abandon();
  }
}

function sourceChanged(source: string): KernelError {
  return new KernelError("EXECUTION_FAILED", `\`${source}\` changed while it was copied; nothing was placed`);
}

/**
 * Inspects the file that the copy would replace. Its state is only compared again when the copy is placed, and never
 * disclosed.
 */
async function inspectDestination(
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
