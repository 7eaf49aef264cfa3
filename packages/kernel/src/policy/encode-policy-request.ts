import { canonicalJson, type JsonObject, sharedUtf8, toHex } from "@narthex/contracts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { NarrowedTool } from "../tool/narrow-tool.ts";
import { cedarRequest } from "./cedar-request.ts";
import type { PolicyRequest } from "./policy.ts";
import type { CallFacts } from "./request-facts.ts";
import { createTemplate, matchesTemplate, type PolicyRequestTemplate } from "./policy-request-template.ts";

/** The policy request for a call, and its canonical bytes, from which it can be re-evaluated. */
export interface EncodedPolicyRequest {
  readonly request: PolicyRequest;
  readonly bytes: Uint8Array;
}

/** Maximum number of cached request templates per session, a few kilobytes each. */
const MAX_TEMPLATES = 32;

/**
 * Encodes a policy request. To keep it small, the input is stored separately as content under its digest. The part that
 * is the same for all calls of a tool in a session is encoded once.
 */
export function encodePolicyRequest(
  live: LiveSession,
  registered: RegisteredTool,
  facts: NarrowedTool,
  call: CallFacts,
  input: JsonObject,
): EncodedPolicyRequest {
  const form = findTemplate(live, registered, facts, call.labels);
  const { labels: _, inputDigest, ...rest } = call;
  const stored = { ...rest, input_digest: toHex(inputDigest) };
  return {
    request: cedarRequest(form.stored, form.entities, stored, input),
    bytes: sharedUtf8(`{"call":${canonicalJson(stored)},"form":${form.text}}`),
  };
}

function findTemplate(
  live: LiveSession,
  registered: RegisteredTool,
  facts: NarrowedTool,
  labels: readonly string[],
): PolicyRequestTemplate {
  // The action is part of the key, because calls that write protected paths alternate between two actions.
  const key = `${registered.id} ${facts.action}`;
  const known = live.requestTemplates?.get(key);
  if (known !== undefined && matchesTemplate(known, registered, facts, labels)) return known;
  const form = createTemplate(live, registered, facts, labels);
  live.requestTemplates ??= new Map();
  if (live.requestTemplates.size >= MAX_TEMPLATES) live.requestTemplates.clear();
  live.requestTemplates.set(key, form);
  return form;
}
