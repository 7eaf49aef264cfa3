import { canonicalJson, type JsonObject, sharedUtf8, toHex } from "@narthex/contracts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { NarrowedTool } from "../tool/narrow-for.ts";
import { cedarRequest } from "./cedar-request.ts";
import type { PolicyRequest } from "./policy.ts";
import type { CallFacts } from "./question-facts.ts";
import { createForm, fitsForm, type PolicyQuestionForm } from "./question-form.ts";

/** What policy is asked about a call, and the canonical bytes from which it can be asked again. */
export interface PolicyQuestion {
  readonly request: PolicyRequest;
  readonly bytes: Uint8Array;
}

/** A session's memory for tools it used, some kilobytes each. */
const MAX_FORMS = 32;

/**
 * The input itself is content under its digest: what is stored stays small. What is the same for all calls of a tool in a
 * session is written once.
 */
export function policyQuestion(
  live: LiveSession,
  registered: RegisteredTool,
  facts: NarrowedTool,
  call: CallFacts,
  input: JsonObject,
): PolicyQuestion {
  const form = formFor(live, registered, facts, call.labels);
  const { labels: _, inputDigest, ...rest } = call;
  const stored = { ...rest, input_digest: toHex(inputDigest) };
  return {
    request: cedarRequest(form.stored, form.entities, stored, input),
    bytes: sharedUtf8(`{"call":${canonicalJson(stored)},"form":${form.text}}`),
  };
}

function formFor(
  live: LiveSession,
  registered: RegisteredTool,
  facts: NarrowedTool,
  labels: readonly string[],
): PolicyQuestionForm {
  // Programs are asked about as a tool's call and as writers of protected paths, in turn.
  const key = `${registered.id} ${facts.action}`;
  const known = live.questionForms?.get(key);
  if (known !== undefined && fitsForm(known, registered, facts, labels)) return known;
  const form = createForm(live, registered, facts, labels);
  live.questionForms ??= new Map();
  if (live.questionForms.size >= MAX_FORMS) live.questionForms.clear();
  live.questionForms.set(key, form);
  return form;
}
