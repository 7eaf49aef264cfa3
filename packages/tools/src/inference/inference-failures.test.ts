import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { KernelError } from "@narthex/contracts";
import type { NetworkAccess } from "@narthex/kernel";
import { anthropicError, anthropicEvent, geminiError, type ModelReply, openaiError } from "@narthex/testkit";
import {
  type AnsweringServer,
  errorOf,
  LEFT_AFTER_ALL,
  LEFT_AFTER_NOTHING,
  LIMITS,
  startAnsweringServer,
} from "./testing/answering-server.ts";
import { fetchNetwork } from "./testing/fetch-network.ts";
import { openInference, providersAt, toolAt } from "./testing/inference-kernel.ts";

let at: AnsweringServer;
before(async () => {
  at = await startAnsweringServer();
});
after(() => at[Symbol.asyncDispose]());

describe("inference: RATE_LIMITED", () => {
  const waits = async (answer: ModelReply, provider: string): Promise<[string, bigint]> => {
    const { errorCode, retryAfterMs } = await at.failing(answer, { provider });
    return [errorCode, retryAfterMs];
  };

  it("comes with the time to wait, from headers in seconds, milliseconds or as a date", async () => {
    const body = openaiError("Rate limit reached", "requests", "rate_limit_exceeded");
    const nowMs = 1_800_000_000_000;
    for (const [headers, expected] of [
      [{ "retry-after": "2" }, 2000n],
      [{ "retry-after": "0.5" }, 500n],
      [{ "retry-after-ms": "1234", "retry-after": "9" }, 1234n],
      [{ "retry-after": new Date(nowMs + 30_000).toUTCString() }, 30_000n],
      [{ "retry-after": new Date(nowMs - 30_000).toUTCString() }, 1n],
      [{ "retry-after": "99999999" }, 86_400_000n],
      [{ "retry-after": "soon" }, 1000n],
      [{ "retry-after": "-5" }, 1000n],
      [{}, 1000n],
    ] as const) {
      assert.deepEqual(await waits({ status: 429, headers, body }, "openai"), ["RATE_LIMITED", expected]);
    }
  });

  it("is what an overloaded provider says, by status or inside its stream", async () => {
    const overloaded = anthropicError("overloaded_error", "Overloaded");
    const json = JSON.stringify(overloaded);
    assert.equal((await waits({ status: 529, body: json }, "anthropic"))[0], "RATE_LIMITED");
    assert.equal((await waits({ body: anthropicEvent(overloaded) }, "anthropic"))[0], "RATE_LIMITED");
    const retry = [
      { "@type": "type.googleapis.com/google.rpc.Help", links: [] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "17.5s" },
    ];
    const exhausted = geminiError(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", retry);
    assert.deepEqual(await waits({ status: 429, body: exhausted }, "gemini"), ["RATE_LIMITED", 17_500n]);
    assert.deepEqual(await waits({ status: 429, body: `[${exhausted}]` }, "gemini"), ["RATE_LIMITED", 17_500n]);
    assert.deepEqual(await waits({ body: exhausted }, "gemini"), ["RATE_LIMITED", 17_500n]);
    const unavailable = geminiError(503, "UNAVAILABLE", "The model is overloaded. Please try again later.");
    assert.equal((await waits({ status: 503, body: unavailable }, "gemini"))[0], "RATE_LIMITED");
  });

  it("is not what a provider says to whom money is owed: waiting does not help", async () => {
    const body = openaiError("You exceeded your current quota", "insufficient_quota", "insufficient_quota");
    const error = await at.failing({ status: 429, body });
    assert.deepEqual([error.errorCode, error.retryAfterMs], ["UPSTREAM_ERROR", 0n]);
  });

  it("and every other refusal is not charged for", async () => {
    for (const status of [400, 404, 429, 500, 503, 529]) {
      at.reply = { status, body: openaiError("no", "x") };
      const kernel = await at.open();
      errorOf(await kernel.ask());
      assert.deepEqual(await kernel.left(), LEFT_AFTER_NOTHING);
    }
  });
});

describe("inference: UPSTREAM_ERROR", () => {
  it("tells what the provider said in one line that cannot end its quotation", async () => {
    const said = `model \`x\` not found\n\u001b[31m\u202e${"!".repeat(2000)}`;
    for (const body of [
      openaiError(said, "x"),
      JSON.stringify({ error: said }),
      JSON.stringify({ detail: said }),
      said,
    ]) {
      const { errorCode, message } = await at.failing({ status: 404, body });
      assert.equal(errorCode, "UPSTREAM_ERROR");
      assert.match(
        message,
        /^the provider `openai` refused the request with status 404: `model x not found \[31m !+`$/,
      );
      assert.ok(message.length < 400);
    }
  });

  it("is what broken servers get, whatever they send, and its size is bounded", async () => {
    for (const body of ["", "{}", "[]", "null", "<html>", "\u0000", `{"error": ${"[".repeat(5000)}`]) {
      assert.equal((await at.failing({ status: 500, body })).errorCode, "UPSTREAM_ERROR", body.slice(0, 20));
      assert.equal((await at.failing({ body })).errorCode, "UPSTREAM_ERROR", body.slice(0, 20));
    }
    let sent = 0;
    const endless = function* () {
      for (;;) {
        sent += 100_000;
        yield "x".repeat(100_000);
      }
    };
    assert.equal((await at.failing({ status: 500, body: endless() })).errorCode, "UPSTREAM_ERROR");
    assert.equal((await at.failing({ body: endless() })).errorCode, "UPSTREAM_ERROR");
    assert.ok(sent < 30_000_000);
  });

  it("is not charged if nothing was sent, and is charged if the outcome is unknown", async () => {
    for (const [code, expected] of [
      ["NETWORK_BLOCKED", LEFT_AFTER_NOTHING],
      ["SANDBOX_UNAVAILABLE", LEFT_AFTER_NOTHING],
      ["UPSTREAM_ERROR", LEFT_AFTER_ALL],
      ["TIMEOUT", LEFT_AFTER_ALL],
    ] as const) {
      const failing = { request: () => Promise.reject(new KernelError(code, "no")) };
      const network: NetworkAccess = { ...fetchNetwork({}), ...failing };
      const kernel = await openInference(toolAt(providersAt(at.server), network), { budgets: LIMITS });
      assert.equal(errorOf(await kernel.ask()).errorCode, code);
      assert.deepEqual(await kernel.left(), expected);
    }
  });
});
