import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import type { JsonObject, JsonValue, ToolResponse } from "@narthex/contracts";
import {
  anthropicStream,
  geminiStream,
  type ModelReply,
  type ModelServer,
  openaiStream,
  startBraveServer,
  startModelServer,
  startSearxngServer,
} from "@narthex/testkit";
import { createNetworkKernel, type NetworkKernel, type NetworkSession } from "./network-kernel.ts";

const KEY = "key-of-the-model-provider";
const SEARCH_KEY = "BSA-0123456789abcdef";
process.env["TEST_MODEL_KEY"] = KEY;
process.env["TEST_SEARCH_KEY"] = SEARCH_KEY;

const ANSWER = { model: "model-1", texts: ["Hello ", "there."], inputTokens: 11, outputTokens: 7 };

function messageOf({ result }: ToolResponse): string {
  return result.case === "error" || result.case === "denied" ? result.value.message : "";
}

describe("configured providers", { timeout: 120_000 }, () => {
  let at: NetworkKernel;
  let model: ModelServer;
  let searxng: Awaited<ReturnType<typeof startSearxngServer>>;
  let brave: Awaited<ReturnType<typeof startBraveServer>>;
  let refusal: ModelReply | undefined;
  let isSilent = false;
  const used = new AsyncDisposableStack();
  before(async () => {
    model = used.use(
      await startModelServer(({ path }) => {
        if (isSilent) return { body: [], isSilent };
        if (refusal !== undefined) return refusal;
        if (path.includes("streamGenerateContent")) return { body: geminiStream({ ...ANSWER, stop: "STOP" }) };
        return {
          body: path.endsWith("/messages")
            ? anthropicStream({ ...ANSWER, stop: "end_turn" })
            : openaiStream({ ...ANSWER, stop: "stop" }),
        };
      }),
    );
    searxng = await startSearxngServer();
    used.defer(() => searxng.close());
    brave = await startBraveServer(SEARCH_KEY);
    used.defer(() => brave.close());
    at = used.use(
      await createNetworkKernel({
        configuration: `
secrets: { model_key: { env: TEST_MODEL_KEY }, search_key: { env: TEST_SEARCH_KEY } }
web_search:
  own: { kind: searxng, url: "${searxng.url}" }
  brave: { kind: brave, url: "${brave.url}", secret: search_key }
inference:
  open: { format: openai, url: "${model.url}/v1", secret: model_key, input_price: 1000000, output_price: 2000000 }
  claude: { format: anthropic, url: "${model.url}", secret: model_key }
  gone: { format: openai, url: "http://127.0.0.1:1/v1" }
  gemini: { format: gemini, url: "${model.url}", secret: model_key, models: { model-1: { output_price: 1000000 } } }
`,
      }),
    );
  });
  after(() => used.disposeAsync());

  const rights = (budgets: JsonObject = {}) => ({
    more: {
      capabilities: [{ kind: "inference" as const, models: [{ provider: "*", model: "*" }] }],
      budgets: budgets as Record<string, number>,
    },
  });
  async function ask(asking: NetworkSession, provider: string, more: JsonObject = {}) {
    return await asking.session.call("inference", await inputFor(asking, provider, more));
  }
  async function inputFor({ session }: NetworkSession, provider: string, more: JsonObject = {}): Promise<JsonObject> {
    const chunks = Readable.from([Buffer.from("Say hello.")]);
    const { hash } = await at.kernel.putContent({ sessionId: session.id, door: "library", labels: [], chunks });
    return {
      provider,
      model: "model-1",
      prompt_hash: Buffer.from(hash).toString("hex"),
      max_tokens: 50,
      temperature_scaled: 70,
      ...more,
    };
  }

  for (const [provider, header] of [
    ["open", "authorization"],
    ["claude", "x-api-key"],
    ["gemini", "x-goog-api-key"],
  ] as const) {
    it(`respond in ${provider}'s format and receive a key that stays hidden elsewhere`, async () => {
      const session = await at.open(rights({ inference_tokens: 1000, cost_units: 1000 }));
      const { raw, response } = await ask(session, provider);
      assert.equal(response.result.case, "success", messageOf(response));
      const answer = raw as JsonObject;
      assert.deepEqual(
        [answer["text"], answer["stop_reason"], answer["input_tokens"], answer["output_tokens"]],
        ["Hello there.", "end", 11, 7],
      );
      assert.match(String(model.requests.at(-1)?.headers[header]), new RegExp(`${KEY}$`));
      const left = (await at.kernel.getSession(session.session.id))?.budgetRemaining;
      assert.equal(left?.inference_tokens, 1000 - 18);
      assert.equal(left?.cost_units, 1000 - { open: 25, claude: 0, gemini: 7 }[provider]);
    });
  }

  it("are not called by a session without the capability, for an empty request, or beyond the token budget", async () => {
    const none = await at.open({});
    const { result } = (await ask(none, "open")).response;
    assert.equal(result.case === "denied" && result.value.rationaleCode, "CAPABILITY_MISSING");
    const session = await at.open(rights({ inference_tokens: 20 }));
    const short = (await ask(session, "open")).response.result;
    assert.equal(short.case === "denied" && short.value.rationaleCode, "BUDGET_EXCEEDED");
    const zero = (await ask(session, "open", { max_tokens: 0 })).response.result;
    assert.equal(zero.case === "error" && zero.value.errorCode, "INVALID_INPUT");
  });

  it("report when to retry", async () => {
    const session = await at.open(rights({ inference_tokens: 1000, cost_units: 1000 }));
    refusal = { status: 429, headers: { "retry-after": "7" }, body: "{}" };
    for (const provider of ["open", "claude", "gemini"]) {
      const { result } = (await ask(session, provider)).response;
      assert.ok(result.case === "error");
      const { errorCode, retryable, effectsPossible, retryAfterMs } = result.value;
      assert.deepEqual([errorCode, retryable, effectsPossible], ["RATE_LIMITED", true, false], provider);
      assert.equal(retryAfterMs, 7000n);
    }
    refusal = undefined;
    const left = (await at.kernel.getSession(session.session.id))?.budgetRemaining;
    assert.deepEqual([left?.inference_tokens, left?.cost_units], [1000, 1000], "nothing was spent");
  });

  it("that fail are retryable only if nothing was sent, or the provider says that it has not started", async () => {
    const session = await at.open(rights());
    const begun = openaiStream({ ...ANSWER, stop: "stop" }).slice(0, -80);
    const cases: readonly (readonly [string, ModelReply | undefined, string, boolean])[] = [
      ["gone", undefined, "UPSTREAM_ERROR", true],
      ["open", { status: 529, body: "{}" }, "RATE_LIMITED", true],
      ["open", { status: 503, headers: { "retry-after": "1" }, body: "{}" }, "RATE_LIMITED", true],
      ["open", { status: 503, body: "{}" }, "RATE_LIMITED", false],
      ["open", { status: 500, body: "{}" }, "UPSTREAM_ERROR", false],
      ["open", { body: begun, isCut: true }, "UPSTREAM_ERROR", false],
    ];
    for (const [provider, reply, code, isRetryable] of cases) {
      refusal = reply;
      const { result } = (await ask(session, provider)).response;
      assert.ok(result.case === "error");
      const { errorCode, retryable, effectsPossible } = result.value;
      assert.deepEqual(
        [errorCode, retryable, effectsPossible],
        [code, isRetryable, !isRetryable],
        result.value.message,
      );
    }
    refusal = undefined;
  });

  it("get prompts from the content store by their hash, and only a session's own", async () => {
    const session = await at.open(rights());
    const other = await at.open(rights());
    const text = Buffer.from("Only one session knows this prompt.");
    const chunks = Readable.from([text]);
    const put = await at.kernel.putContent({ sessionId: session.session.id, door: "library", labels: [], chunks });
    const prompt_hash = Buffer.from(put.hash).toString("hex");
    const count = model.requests.length;
    for (const [asking, hash] of [
      [other, prompt_hash],
      [session, "ab".repeat(32)],
    ] as const) {
      const { result } = (await ask(asking, "open", { prompt_hash: hash })).response;
      assert.equal(result.case === "error" && result.value.errorCode, "CONTENT_NOT_FOUND");
    }
    for (const inline of [{ prompt: "hello" }, { prompt_hash: "hello" }]) {
      const { result } = (await ask(session, "open", inline)).response;
      assert.equal(
        result.case === "error" && result.value.errorCode,
        "INVALID_INPUT",
        "a prompt is no text in the input",
      );
    }
    assert.equal(model.requests.length, count, "nobody was asked");
    const { response } = await ask(session, "open", { prompt_hash });
    assert.equal(response.result.case, "success", messageOf(response));
    assert.match(JSON.stringify(model.requests.at(-1)), /Only one session knows this prompt/);
    const records = await at.kernel.listRecords({ chain: session.session.id, limit: 100 });
    for (const { record } of records) assert.equal(Buffer.from(record).indexOf(text), -1);
  });

  it("are never overspent by concurrent calls, and cancelled calls count as spent", async () => {
    const session = await at.open(rights({ inference_tokens: 250, cost_units: 400 }));
    const before = model.requests.length;
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(session, "open")));
    const kinds = answers.map(({ response: { result } }) => (result.case === "success" ? "success" : "refused"));
    const done = kinds.filter((kind) => kind === "success").length;
    // At most three fit with what is set aside for each, and what one gives back another may take.
    assert.ok(done >= 1 && done < 12, String(done));
    assert.equal(model.requests.length - before, done, "who is refused asks nobody");
    const left = (await at.kernel.getSession(session.session.id))?.budgetRemaining;
    assert.deepEqual([left?.inference_tokens, left?.cost_units], [250 - done * 18, 400 - done * 25]);

    isSilent = true;
    const giving = new AbortController();
    const waiting = session.session.call("inference", await inputFor(session, "open"), { signal: giving.signal });
    while (model.requests.length === before + done) await new Promise(setImmediate);
    giving.abort();
    const { result } = (await waiting).response;
    assert.equal(result.case === "error" && result.value.errorCode, "CANCELLED");
    isSilent = false;
    const after = (await at.kernel.getSession(session.session.id))?.budgetRemaining;
    // Fifty of the answer, four of the prompt's ten bytes: nobody knows what the provider made of it.
    assert.deepEqual([after?.inference_tokens, after?.cost_units], [250 - done * 18 - 54, 400 - done * 25 - 104]);
  });

  it("return search results, with a key where one is needed", async () => {
    const places = [searxng.url, brave.url].map((url) => new URL(url).host);
    const session = await at.open({ reads: places });
    for (const provider of ["own", "brave"]) {
      const { raw, response } = await session.session.call("web_search", {
        query: "kernels",
        provider,
        max_results: 2,
      });
      assert.equal(response.result.case, "success", messageOf(response));
      const results = raw as JsonValue[];
      assert.equal(results.length, 2);
      assert.deepEqual(Object.keys(results[0] as JsonObject).sort(), ["snippet", "title", "url"]);
    }
    assert.equal((await session.egress()).length, 2);
  });
});
