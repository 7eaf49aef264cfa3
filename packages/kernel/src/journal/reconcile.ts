import { ContentPlace, ContentRole, parseJson } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import type { ReconcileContext } from "../tool/tool.ts";
import { type Intent, intentFromRow } from "./intent.ts";
import { intentItems, settleIntent } from "./settle-intent.ts";

const MAX_INTENTS = 100_000;

/** After a crash: tools that can tell whether their effect happened settle their own calls. The rest stay unknown. */
export async function reconcileIntents(kernel: KernelParts): Promise<{ readonly settled: number; readonly unknown: number }> {
  let settled = 0;
  const rows = await kernel.store.listState("intents", "", MAX_INTENTS);
  for (const row of rows) {
    try {
      if (await reconcile(intentFromRow(row), kernel)) settled++;
    } catch (fault) {
      // A tool that cannot find out leaves its call to a person.
      kernel.log("warn", "a call could not be reconciled", { intent: row.key, cause: String(fault) });
    }
  }
  return { settled, unknown: rows.length - settled };
}

async function reconcile(intent: Intent, kernel: KernelParts): Promise<boolean> {
  const [name = "", version = ""] = intent.tool.split("@");
  const registered = kernel.registry.resolve(name, version);
  const live = await kernel.sessions.find(intent.sessionId);
  if (registered?.tool.reconcile === undefined || live === undefined) return false;
  const input = (await intentItems(intent, kernel)).find((item) => item.role === ContentRole.INPUT);
  if (input === undefined || input.place !== ContentPlace.ROW) return false;
  const { sessionId, requestId } = intent;
  const unsettled = { sessionId, requestId, tenant: live.session.tenant, input: parseJson(input.data) };
  const answer = await registered.tool.reconcile(unsettled, contextFor(kernel));
  if (answer === "unknown") return false;
  const happened = typeof answer === "object";
  await settleIntent(
    intent,
    { answer: happened ? "happened" : "did_not_happen", by: "reconciled" },
    kernel,
    happened ? { registered, output: answer.happened } : undefined,
  );
  return true;
}

function contextFor(kernel: KernelParts): ReconcileContext {
  return {
    findArtifact: async (tenant, artifactId) => {
      const found = await kernel.artifacts.find(tenant, artifactId);
      return found && { ...found.artifact, requestId: found.requestId };
    },
  };
}
