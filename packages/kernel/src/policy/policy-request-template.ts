import { canonicalJson, toHex } from "@narthex/contracts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { NarrowedTool } from "../tool/narrow-tool.ts";
import type { CedarEntity } from "./cedar/cedar.ts";
import { entitiesOf } from "./cedar-request.ts";
import { relativeDirectory } from "../session/relative-directory.ts";
import type { StoredTemplate } from "./request-facts.ts";

/** The part of a policy request that all calls of one tool in one session share. */
export interface PolicyRequestTemplate {
  readonly registered: RegisteredTool;
  readonly facts: NarrowedTool;
  readonly labels: readonly string[];
  readonly stored: StoredTemplate;
  readonly entities: readonly CedarEntity[];
  /** Canonical JSON of `stored`. */
  readonly text: string;
}

export function matchesTemplate(
  form: PolicyRequestTemplate,
  registered: RegisteredTool,
  facts: NarrowedTool,
  labels: readonly string[],
): boolean {
  return (
    form.registered === registered &&
    form.labels === labels &&
    form.facts.effects === facts.effects &&
    form.facts.tier === facts.tier &&
    form.facts.determinism === facts.determinism
  );
}

export function createTemplate(
  { id, session }: LiveSession,
  registered: RegisteredTool,
  facts: NarrowedTool,
  labels: readonly string[],
): PolicyRequestTemplate {
  const { tool, definitionHash } = registered;
  const stored: StoredTemplate = {
    action: facts.action,
    agent: session.agent,
    definition_hash: toHex(definitionHash),
    determinism: facts.determinism,
    directory: relativeDirectory(session),
    effects: [...facts.effects],
    isolation: tool.isolation,
    labels: [...labels],
    session: id,
    source: tool.source,
    tenant: session.tenant,
    tier: facts.tier,
    tool: tool.name,
    user: session.user,
    version: tool.version,
    workspace: session.workspace,
  };
  return { registered, facts, labels, stored, entities: entitiesOf(stored), text: canonicalJson(stored) };
}
