import { canonicalJson, sharedUtf8, toHex } from "@narthex/contracts";
import type { PolicyRequest } from "./policy.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { NarrowedTool } from "../tool/narrow-for.ts";

/** What policy is asked about a call, and the canonical bytes of it. */
export interface PolicyQuestion {
  readonly request: PolicyRequest;
  readonly bytes: Uint8Array;
}

/** All of a question that calls of one tool in one session have in common. */
export interface PolicyQuestionForm {
  readonly registered: RegisteredTool;
  readonly facts: NarrowedTool;
  readonly labels: readonly string[];
  readonly definitionHash: string;
  /** The canonical text before and after the input's digest. */
  readonly before: string;
  readonly after: string;
}

/** Stands for the digest, which has no such letters, while the text around it is made. */
const GAP = "<input>";
/** A session's memory for tools it used, about a kilobyte each. */
const MAX_FORMS = 32;

/** The input itself is content under its digest: what is asked stays small, and can be asked again. */
export function policyQuestion(
  live: LiveSession,
  registered: RegisteredTool,
  facts: NarrowedTool,
  inputDigest: Uint8Array,
): PolicyQuestion {
  const form = formFor(live, registered, facts);
  const digest = toHex(inputDigest);
  return {
    request: requestOf(live, form, digest),
    bytes: sharedUtf8(form.before + digest + form.after),
  };
}

function formFor(live: LiveSession, registered: RegisteredTool, facts: NarrowedTool): PolicyQuestionForm {
  const known = live.questionForms?.get(registered);
  if (known !== undefined && fits(known, live, facts)) return known;
  const form = createForm(live, registered, facts);
  live.questionForms ??= new Map();
  if (live.questionForms.size >= MAX_FORMS) live.questionForms.clear();
  live.questionForms.set(registered, form);
  return form;
}

function fits(form: PolicyQuestionForm, live: LiveSession, facts: NarrowedTool): boolean {
  return (
    form.labels === live.labels &&
    form.facts.effects === facts.effects &&
    form.facts.tier === facts.tier &&
    form.facts.determinism === facts.determinism &&
    form.facts.action === facts.action
  );
}

function createForm(live: LiveSession, registered: RegisteredTool, facts: NarrowedTool): PolicyQuestionForm {
  const definitionHash = toHex(registered.definitionHash);
  const form = { registered, facts, labels: live.labels, definitionHash, before: "", after: "" };
  // INVARIANT: keys are written in order, and what a session or a tool is called cannot come before `input_digest`
  // with this very text around it, because quotes within a text are escaped.
  const text = canonicalJson(requestOf(live, form, GAP));
  const mark = `"input_digest":"${GAP}"`;
  const at = text.indexOf(mark) + mark.length - GAP.length - 1;
  return { ...form, before: text.slice(0, at), after: text.slice(at + GAP.length) };
}

function requestOf(live: LiveSession, form: PolicyQuestionForm, inputDigest: string): PolicyRequest {
  const { registered, facts } = form;
  const { session } = live;
  return {
    action: facts.action,
    context: {
      definition_hash: form.definitionHash,
      determinism: facts.determinism,
      effects: [...facts.effects],
      input_digest: inputDigest,
      labels: [...form.labels],
      session: live.id,
      tenant: session.tenant,
      tier: facts.tier,
      user: session.user,
      version: registered.tool.version,
    },
    principal: session.agent,
    resource: session.workspace,
  };
}
