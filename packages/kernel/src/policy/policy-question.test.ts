import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJson, utf8 } from "@narthex/contracts";
import { echoTool } from "@narthex/testkit";
import fc from "fast-check";
import type { RegisteredTool } from "../registry/registry.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { NarrowedTool } from "../tool/narrow-for.ts";
import { policyQuestion } from "./policy-question.ts";

const FACTS: NarrowedTool = {
  effects: ["fs_read"],
  tier: "read_only",
  determinism: "pure",
  action: "echo",
  timeoutMs: 1000,
};

function liveSession(names: { agent: string; user: string; tenant: string; workspace: string }): LiveSession {
  const live = { id: "ses_aaaaaaaaaaaaaaaaaaaa", labels: ["untrusted"], session: names, questionForms: undefined };
  return live as unknown as LiveSession;
}

function registeredTool(name: string): RegisteredTool {
  const tool = { ...echoTool, name, version: "1.0.0" };
  return { tool, definitionHash: new Uint8Array(32).fill(3) } as unknown as RegisteredTool;
}

const names = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom('"input_digest":"<input>"', "<input>", '\\"input_digest\\":\\"<input>\\"'),
);

test("the bytes of a question are its canonical JSON, whatever things are called", () => {
  fc.assert(
    fc.property(
      fc.record({ agent: names, user: names, tenant: names, workspace: names }),
      names,
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      (session, tool, digest) => {
        const live = liveSession(session);
        const registered = registeredTool(tool);
        for (let round = 0; round < 2; round++) {
          const { request, bytes } = policyQuestion(live, registered, FACTS, digest);
          assert.deepEqual(new Uint8Array(bytes), utf8(canonicalJson(request)));
        }
      },
    ),
  );
});

test("what has changed since the last question is asked anew", () => {
  const live = liveSession({ agent: "a", user: "u", tenant: "t", workspace: "/project" });
  const registered = registeredTool("echo");
  const digest = new Uint8Array(32);
  const asked = (facts: NarrowedTool) => policyQuestion(live, registered, facts, digest);
  const first = asked(FACTS);
  live.labels = ["secret", "untrusted"];
  const labelled = asked(FACTS);
  assert.deepEqual(labelled.request.context["labels"], ["secret", "untrusted"]);
  assert.notDeepEqual(labelled.bytes, first.bytes);
  const raised = asked({ ...FACTS, tier: "privileged" });
  assert.equal(raised.request.context["tier"], "privileged");
  assert.deepEqual(new Uint8Array(raised.bytes), utf8(canonicalJson(raised.request)));
});
