import { ContentRole, blake3, compileEncoder, type ToolError, ToolErrorSchema } from "@narthex/contracts";
import { commitContent } from "../../ledger/commitment.ts";
import type { EntryDraft } from "../../ledger/record-draft.ts";
import type { IncomingCall, KeptCall } from "../call.ts";
import { boundViolations, cutText } from "../../result/bound-error.ts";
import { redactText } from "../../result/redact.ts";
import { Denied, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";

export interface OutcomeFacts {
  readonly durationMs: number;
  readonly spent: readonly { readonly dimension: string; readonly amount: number }[];
}

const encodeError = compileEncoder<ToolError>(ToolErrorSchema);

/** Creates the one entry that says how a call ended. */
export function createOutcomeEntry(
  incoming: IncomingCall,
  end: KeptCall | Denied | Failed,
  facts: OutcomeFacts,
  kernel: KernelParts,
): EntryDraft {
  const { trail } = incoming;
  const common = {
    ...facts,
    requestCommitment: trail.request?.commitment,
    proofCommitment: trail.proof?.commitment,
    filesCommitment: trail.fileList?.commitment,
    preimageCommitments: trail.fileTrace?.preimages.map((preimage) => preimage.commitment),
    stagedCommitments: trail.fileTrace?.staged.map((staged) => staged.commitment),
    outputCommitments: trail.outputCommitments.map((output) => output.commitment),
    wasm: trail.wasmTrace?.facts(),
    redacted: trail.isRedacted,
  };
  if (end instanceof Denied) {
    return { case: "toolDenied", value: { ...common, success: false, code: end.rationaleCode, ruleId: end.ruleId } };
  }
  if (end instanceof Failed) {
    const value = {
      ...common,
      success: false,
      code: end.code,
      errorCommitment: commitError(incoming, end, kernel),
      effectsPossible: end.mayHaveChanged(trail),
      retryable: end.mayBeRetried(trail),
      labels: trail.labels,
    };
    return { case: end.code === "TIMEOUT" ? "toolTimedOut" : "toolFailed", value };
  }
  return {
    case: "toolCompleted",
    value: {
      ...common,
      success: true,
      resultCommitment: trail.result?.commitment,
      resultSize: end.result.size,
      resultType: end.registered.tool.resultType,
      cut: end.cut,
      labels: end.labels,
    },
  };
}

/** Attaches an error as content. Its text may contain what the caller sent, so it must be erasable. */
function commitError(incoming: IncomingCall, failed: Failed, kernel: KernelParts): Uint8Array {
  const hidden = kernel.secrets.redactorsForStorage(incoming.trail.tool?.tool.redactors ?? kernel.secrets.all);
  const bytes = encodeError({
    errorCode: failed.code,
    message: redactText(cutText(failed.message), hidden),
    retryable: failed.mayBeRetried(incoming.trail),
    retryAfterMs: failed.retryAfterMs,
    violations: boundViolations(failed.violations).map(({ field, rule, message }) => ({
      field: redactText(field, hidden),
      rule,
      message: redactText(message, hidden),
    })),
    effectsPossible: failed.mayHaveChanged(incoming.trail),
  });
  const committed = commitContent(
    { role: ContentRole.ERROR, digest: blake3(bytes), bytes, size: bytes.length },
    kernel.random,
  );
  incoming.trail.attach(committed.item);
  return committed.commitment;
}
