import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJson, isJsonObject, type JsonObject, parseJson, utf8 } from "@narthex/contracts";
import { echoTool } from "@narthex/testkit";
import fc from "fast-check";
import type { RegisteredTool } from "../registry/registry.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { NarrowedTool } from "../tool/narrow-tool.ts";
import { cedarRequest, entitiesOf } from "./cedar-request.ts";
import { encodePolicyRequest } from "./encode-policy-request.ts";
import type { CallFacts, StoredCallFacts, StoredTemplate } from "./request-facts.ts";

const FACTS: NarrowedTool = {
  effects: ["fs_read"],
  tier: "read_only",
  determinism: "pure",
  action: "echo",
  timeoutMs: 1000,
};
const LABELS = ["untrusted"];
const CALL: CallFacts = {
  inputDigest: new Uint8Array(32),
  labels: LABELS,
  calls: 3,
  time_ms: 1_000_004,
  budget: { calls: 7 },
  path: "src/a.ts",
  writes: false,
};

function liveSession(names: { agent: string; user: string; tenant: string; workspace: string }): LiveSession {
  const session = { ...names, workingDirectory: `${names.workspace}/${names.agent}` };
  const live = { id: "ses_aaaaaaaaaaaaaaaaaaaa", labels: LABELS, session, requestTemplates: undefined };
  return live as unknown as LiveSession;
}

function registeredTool(name: string): RegisteredTool {
  const tool = { ...echoTool, name, version: "1.0.0" };
  return { tool, definitionHash: new Uint8Array(32).fill(3) } as unknown as RegisteredTool;
}

/** As who has nothing but the stored bytes and the input would ask it again. */
function askedAgain(bytes: Uint8Array, input: JsonObject) {
  const stored = parseJson(bytes);
  assert.ok(isJsonObject(stored));
  const { form, call } = stored as unknown as { form: StoredTemplate; call: StoredCallFacts };
  return cedarRequest(form, entitiesOf(form), call, input);
}

const names = fc.string({ unit: "grapheme" });

test("a policy request is evaluated again from its bytes, whatever names it contains", () => {
  fc.assert(
    fc.property(
      fc.record({ agent: names, user: names, tenant: names, workspace: names }),
      names,
      names,
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      (session, tool, path, inputDigest) => {
        const live = liveSession(session);
        const registered = registeredTool(tool);
        for (let round = 0; round < 2; round++) {
          const input = { path };
          const { request, bytes } = encodePolicyRequest(
            live,
            registered,
            FACTS,
            { ...CALL, path, inputDigest },
            input,
          );
          assert.deepEqual(askedAgain(bytes, input), request);
          assert.deepEqual(new Uint8Array(bytes), utf8(canonicalJson(parseJson(bytes))));
        }
      },
    ),
  );
});

test("changed facts are read again for the next policy request", () => {
  const live = liveSession({ agent: "a", user: "u", tenant: "t", workspace: "/project" });
  const registered = registeredTool("echo");
  const asked = (facts: NarrowedTool, labels = LABELS) =>
    encodePolicyRequest(live, registered, facts, { ...CALL, labels }, {});
  const first = asked(FACTS);
  const labelled = asked(FACTS, ["secret", "untrusted"]);
  assert.deepEqual(labelled.request.context["labels"], ["secret", "untrusted"]);
  assert.notDeepEqual(labelled.bytes, first.bytes);
  assert.equal(asked({ ...FACTS, tier: "privileged" }).request.context["tier"], "privileged");
});

test("a tool's facts cannot override the kernel's own", () => {
  const live = liveSession({ agent: "a", user: "u", tenant: "t", workspace: "/project" });
  const derived = { labels: [], tier: "read_only", tool: "hash", path: "elsewhere", input: {}, extra: true };
  const { request } = encodePolicyRequest(
    live,
    registeredTool("echo"),
    { ...FACTS, tier: "privileged" },
    { ...CALL, derived },
    { x: 1 },
  );
  const { labels, tier, tool, path, input, extra } = request.context;
  assert.deepEqual(
    [labels, tier, tool, path, input, extra],
    [LABELS, "privileged", "echo", "src/a.ts", { x: 1 }, true],
  );
});
