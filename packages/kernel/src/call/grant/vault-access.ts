import { ContentPlace, ContentRole, KernelError, toHex } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import { commitContent } from "../../ledger/commitment.ts";
import type { FileAccess, VaultAccess } from "../../tool/tool.ts";
import type { FileState } from "../../workspace-files.ts";
import { chargeContent } from "../charge-stored.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { FileLog } from "../file-log.ts";
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
 * SECURITY: no sandbox holds vault and workspace at once. One reads the file into the kernel's content store, where it
 * is sealed under its hash; another places it. The tool never holds a byte of it. The staged content is always a file of
 * the store, never part of a record, and its role gives no session the right to name it again.
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
      const staged = await stage(call, source, ports, kernel);
      ports.guard();
      await place(call, staged, destination, ports, kernel);
      return { bytes: staged.size, hash: toHex(staged.digest) };
    },
  };
}

interface Staged {
  readonly digest: Uint8Array;
  readonly size: number;
}

async function stage(
  call: PermittedCall,
  source: string,
  { guard, signal }: VaultPorts,
  kernel: KernelParts,
): Promise<Staged> {
  const { live, trail } = call;
  const { vault } = kernel;
  if (vault === undefined) {
    throw new KernelError(
      "SANDBOX_UNAVAILABLE",
      "this kernel has no vault; name its directory as `vault` in narthex.yaml",
    );
  }
  const prepared = await vault.prepareRead({ path: source, workspace: live.session.workspace }, signal());
  const writer = await kernel.contentStore.openWriter();
  try {
    guard();
    const [opened = ""] = prepared.opened;
    if (opened !== source) kernel.decideAgain(call, [{ kind: "vault", prefixes: [`/${opened}`] }], kernel);
    // Before a byte is read: the session is labelled, however the call ends.
    await takeOnLabels(call, [SECRET], kernel);
    guard();
    const answer = await prepared.commit();
    if (answer.kind !== "read") throw new KernelError("INTERNAL", "a reading was not answered by content");
    for await (const chunk of answer.content) {
      chargeContent(call, chunk.length);
      await writer.write(chunk);
    }
    const staged = await writer.commit();
    trail.files ??= new FileLog();
    trail.files.readings.push({ path: `vault:/${opened}`, offset: 0, size: staged.size, hash: toHex(staged.digest) });
    const content = { role: ContentRole.STAGED, ...staged, place: ContentPlace.FILE, labels: trail.labels };
    const committed = commitContent(content, kernel.random);
    trail.attach(committed.item);
    trail.files.staged.push(committed);
    return staged;
  } catch (fault) {
    await Promise.all([writer.abort(), prepared.abandon()]);
    throw fault;
  }
}

async function place(
  call: PermittedCall,
  { digest, size }: Staged,
  destination: string,
  ports: VaultPorts,
  kernel: KernelParts,
): Promise<void> {
  const expected = await inspect(call, destination, ports, kernel);
  if (expected.kind !== "absent" && expected.kind !== "file") {
    throw new KernelError("NOT_A_FILE", `\`${destination}\` is there already, and is no file`);
  }
  const before = { kind: "file", hash: toHex(digest), size, mode: SECRET_MODE } as const;
  const content = kernel.contentStore.read(digest, 0, size);
  await ports.files.run({ kind: "restore", path: destination, expected, before, content });
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
