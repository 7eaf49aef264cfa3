import { canonicalJsonBytes, ContentRole, equalBytes } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import type { StateChange } from "../ports.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import { describeTool } from "../tool/describe-tool.ts";
import { announcedAs, createPolicyAnnouncement } from "../policy/reload-policy.ts";
import { publicContent } from "./public-content.ts";
import { type ContentDraft, type EntryDraft, SYSTEM_CHAIN } from "./record-draft.ts";

/**
 * Prepares the first record of a run: the start itself, and the policy in force and tool definitions if they changed
 * since the previous run. Both are stored as content, so that later decisions can be reproduced from them. A run that
 * only reads writes nothing.
 */
export async function prepareStartRecord(version: string, kernel: KernelParts): Promise<void> {
  const entries: EntryDraft[] = [{ case: "kernelStarted", value: { version } }];
  const content: ContentDraft[] = [];
  const state: StateChange[] = [];
  await announcePolicy(kernel, entries, content, state);
  for (const registered of kernel.registry.list({ allVersions: true })) {
    await announceTool(registered, kernel, entries, content, state);
  }
  kernel.ledger.prefaceWith({ chain: SYSTEM_CHAIN, entries, content, state });
}

async function announcePolicy(
  kernel: KernelParts,
  entries: EntryDraft[],
  content: ContentDraft[],
  state: StateChange[],
): Promise<void> {
  const current = kernel.policy.current;
  if ("problem" in current) {
    entries.push({ case: "policyLoaded", value: { problem: current.problem } });
    state.push({ table: "meta", key: "policy", value: undefined });
    return;
  }
  const known = await kernel.store.getState("meta", "policy");
  const mode = kernel.policyMode === "observe" ? "observe" : "";
  if (known !== undefined && equalBytes(known, announcedAs(current, mode))) return;
  const announcement = await createPolicyAnnouncement(current, "", kernel);
  entries.push(...announcement.entries);
  content.push(...announcement.content);
  state.push(...announcement.state);
}

async function announceTool(
  registered: RegisteredTool,
  kernel: KernelParts,
  entries: EntryDraft[],
  content: ContentDraft[],
  state: StateChange[],
): Promise<void> {
  const known = await kernel.store.getState("meta", stateKey(registered));
  if (known !== undefined && equalBytes(known, registered.definitionHash)) return;
  const announcement = await createToolAnnouncement(registered, kernel);
  entries.push(...announcement.entries);
  content.push(...announcement.content);
  state.push(...announcement.state);
}

/** Creates the entry for a registered tool, with its definition as content. */
export async function createToolAnnouncement(
  registered: RegisteredTool,
  kernel: Pick<KernelParts, "publicStore" | "random">,
): Promise<{
  readonly entries: EntryDraft[];
  readonly content: ContentDraft[];
  readonly state: StateChange[];
}> {
  const { tool, definitionHash } = registered;
  const { name: toolName, version: toolVersion, source, isolation } = tool;
  return {
    entries: [{ case: "toolRegistered", value: { toolName, toolVersion, definitionHash, source, isolation } }],
    content: [await publicContent(ContentRole.DEFINITION, canonicalJsonBytes(describeTool(tool)), kernel)],
    state: [{ table: "meta", key: stateKey(registered), value: definitionHash }],
  };
}

/** Creates the entry for an unregistered tool. If it is registered again, it is announced again. */
export function createToolRemoval(registered: RegisteredTool): {
  readonly entries: EntryDraft[];
  readonly content: ContentDraft[];
  readonly state: StateChange[];
} {
  const { tool, definitionHash } = registered;
  return {
    entries: [{ case: "toolUnregistered", value: { toolName: tool.name, toolVersion: tool.version, definitionHash } }],
    content: [],
    state: [{ table: "meta", key: stateKey(registered), value: undefined }],
  };
}

function stateKey({ id }: RegisteredTool): string {
  return `tool/${id}`;
}
