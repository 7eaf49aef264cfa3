import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { isJsonObject, type JsonObject, toHex } from "@narthex/contracts";
import type { Capability } from "@narthex/kernel";
import { openaiError } from "@narthex/testkit";
import { createInference } from "./inference.ts";
import { MAX_PROMPT_BYTES } from "./read-prompt.ts";
import {
  type AnsweringServer,
  errorOf,
  LEFT_AFTER_ALL,
  LEFT_AFTER_NOTHING,
  SET_ASIDE,
  startAnsweringServer,
  STREAMS,
} from "./testing/answering-server.ts";
import { FORMATS, openInference, providersAt, SECRET, toolAt } from "./testing/inference-kernel.ts";

const ONE_MODEL: Capability = { kind: "inference", models: [{ provider: "openai", model: "m-1" }] };

let at: AnsweringServer;
before(async () => {
  at = await startAnsweringServer();
});
after(() => at[Symbol.asyncDispose]());

describe("inference: what is not asked", () => {
  it("INVALID_INPUT: no tokens, too many tokens, an unknown provider, an invalid hash", async () => {
    const kernel = await at.open();
    const before = at.server.requests.length;
    for (const [input, field] of [
      [{ max_tokens: 0 }, "max_tokens"],
      [{ max_tokens: 1_000_001 }, "max_tokens"],
      [{ max_tokens: 1.5 }, "max_tokens"],
      [{ temperature_scaled: -1 }, "temperature_scaled"],
      [{ temperature_scaled: 0.7 }, "temperature_scaled"],
      [{ provider: "*" }, "provider"],
      [{ provider: "__proto__" }, "provider"],
      [{ model: "" }, "model"],
      [{ model: "x".repeat(257) }, "model"],
      [{ prompt_hash: "AB" }, "prompt_hash"],
      [{ system_prompt_hash: "" }, "system_prompt_hash"],
      [{ prompt: "hello" }, "prompt"],
    ] as const) {
      const error = errorOf(await kernel.ask(input));
      assert.equal(error.errorCode, "INVALID_INPUT", field);
      assert.deepEqual(
        error.violations.map((violation) => violation.field),
        [field],
      );
    }
    assert.equal(at.server.requests.length, before);
    assert.deepEqual(await kernel.left(), LEFT_AFTER_NOTHING);
  });

  it("a model the lease does not name, whatever is held beside it", async () => {
    const kernel = await at.open({ capabilities: [ONE_MODEL] });
    const before = at.server.requests.length;
    for (const input of [{ provider: "anthropic" }, { model: "m-2" }, { model: "*" }, { model: "m-1/../m-2" }]) {
      const { result } = (await kernel.ask(input)).response;
      assert.equal(result.case === "denied" && result.value.rationaleCode, "CAPABILITY_MISSING", JSON.stringify(input));
    }
    assert.equal(at.server.requests.length, before);
    at.reply = { body: STREAMS.openai };
    assert.equal((await kernel.ask()).status, "success");
  });

  it("prompts that are not there, are no text, or are too long", async () => {
    const kernel = await at.open();
    const before = at.server.requests.length;
    const bytes = await kernel.put(Uint8Array.of(0xff, 0xfe));
    const long = await kernel.put(new Uint8Array(MAX_PROMPT_BYTES + 1).fill(97));
    for (const [hash, code] of [
      ["ab".repeat(32), "CONTENT_NOT_FOUND"],
      [bytes, "NOT_TEXT"],
      [long, "RESOURCE_EXCEEDED"],
    ] as const) {
      assert.equal(errorOf(await kernel.ask({ prompt_hash: hash })).errorCode, code);
      assert.equal(errorOf(await kernel.ask({ system_prompt_hash: hash })).errorCode, code);
    }
    assert.equal(at.server.requests.length, before);
    assert.deepEqual(await kernel.left(), LEFT_AFTER_NOTHING);
  });

  it("more tokens or cost than the budget has, of the answer and of the prompt", async () => {
    const before = at.server.requests.length;
    for (const [budgets, dimension] of [
      [{ inference_tokens: 99 }, "inference_tokens"],
      [{ cost_units: 999 }, "cost_units"],
    ] as const) {
      const kernel = await at.open({ budgets });
      const { result } = (await kernel.ask()).response;
      assert.ok(result.case === "denied" && result.value.rationaleCode === "BUDGET_EXCEEDED");
      assert.match(result.value.message, new RegExp(dimension));
    }
    const kernel = await at.open({ budgets: { inference_tokens: 109 } });
    assert.equal(errorOf(await kernel.ask()).errorCode, "RESOURCE_EXCEEDED");
    assert.equal((await kernel.left()).tokens, 109);
    assert.equal(at.server.requests.length, before);
  });
});

for (const format of FORMATS) {
  describe(`inference by ${format}`, () => {
    it("answers the text, why it stopped, and what it cost, which is what the budget lost", async () => {
      at.reply = { body: STREAMS[format] };
      const kernel = await at.open();
      const { raw, response } = await kernel.ask({ provider: format });
      assert.deepEqual(raw, {
        text: "Paris",
        stop_reason: "end",
        input_tokens: 12,
        output_tokens: 3,
        cost_units: 54,
        model: "m-1-2026",
        is_estimated: false,
      });
      assert.ok(response.result.case === "success");
      assert.equal(response.result.value.budgetConsumed, 54n);
      assert.deepEqual(response.result.value.labels, ["untrusted"]);
      assert.deepEqual(await kernel.left(), { tokens: 10_000 - 15, cost: 100_000 - 54 });
    });

    it("spends all that was set aside if the answer broke off, and says so", async () => {
      at.reply = { body: STREAMS[format].slice(0, -80), isCut: true };
      const kernel = await at.open();
      const error = errorOf(await kernel.ask({ provider: format }));
      assert.deepEqual([error.errorCode, error.retryable], ["UPSTREAM_ERROR", false]);
      assert.deepEqual(await kernel.left(), LEFT_AFTER_ALL);
    });

    it("estimates where the provider does not count", async () => {
      at.reply = { body: STREAMS[format].replaceAll(/"(usage|usageMetadata)":/g, '"other":') };
      const kernel = await at.open();
      const raw = (await kernel.ask({ provider: format })).raw as JsonObject;
      assert.equal(raw["is_estimated"], true);
      assert.deepEqual([raw["input_tokens"], raw["output_tokens"], raw["cost_units"]], [10, 100, SET_ASIDE.cost]);
      assert.deepEqual(await kernel.left(), LEFT_AFTER_ALL);
    });

    it("says that the key was refused, and never shows it", async () => {
      for (const status of [401, 403]) {
        const error = await at.failing({ status, body: openaiError(`wrong key ${SECRET}`, "x") }, { provider: format });
        assert.equal(error.errorCode, "UPSTREAM_ERROR");
        assert.match(error.message, /refused the key `model-key`/);
        assert.ok(!error.message.includes("sk-"), error.message);
      }
    });

    it("follows no redirect with its key", async () => {
      const before = at.server.requests.length;
      const away = { status: 307, headers: { location: `${at.server.url}/elsewhere` }, body: "" };
      const error = await at.failing(away, { provider: format });
      assert.equal(error.errorCode, "UPSTREAM_ERROR");
      assert.equal(at.server.requests.length, before + 1);
    });
  });
}

describe("inference: an answer", () => {
  it("is content that the session can read again, as the prompt is", async () => {
    at.reply = { body: STREAMS.openai };
    const kernel = await at.open();
    const { response } = await kernel.ask();
    assert.ok(response.result.case === "success");
    const hash = toHex(response.result.value.resultHash);
    const again = await kernel.session.call("result_read", { hash });
    assert.ok(again.normalised !== undefined);
    assert.equal((JSON.parse(new TextDecoder().decode(again.normalised)) as JsonObject)["text"], "Paris");
    // It can be the next prompt.
    assert.equal((await kernel.ask({ prompt_hash: hash })).status, "success");
    assert.match(JSON.stringify(at.server.requests.at(-1)?.body), /Paris/);
  });
});

describe("inference: what is sent", () => {
  const sent = async (input: JsonObject) => {
    const kernel = await at.open();
    at.reply = { body: STREAMS[input["provider"] as (typeof FORMATS)[number]] };
    const system_prompt_hash = await kernel.put("Be brief. ✓");
    assert.equal((await kernel.ask({ system_prompt_hash, ...input })).status, "success");
    const { headers, ...request } = at.server.requests.at(-1) ?? assert.fail();
    const { authorization, "x-api-key": apiKey, "x-goog-api-key": googleKey } = headers;
    return { ...request, keys: { authorization, apiKey, googleKey }, version: headers["anthropic-version"] };
  };
  const prompt = "What is the capital of France?";

  it("is a chat completion for OpenAI, with the temperature divided by a hundred", async () => {
    assert.deepEqual(await sent({ provider: "openai" }), {
      method: "POST",
      path: "/v1/chat/completions",
      keys: { authorization: `Bearer ${SECRET}`, apiKey: undefined, googleKey: undefined },
      version: undefined,
      body: {
        model: "m-1",
        messages: [
          { role: "system", content: "Be brief. ✓" },
          { role: "user", content: prompt },
        ],
        max_tokens: 100,
        temperature: 0.7,
        stream: true,
        stream_options: { include_usage: true },
      },
    });
  });

  it("is a message for Anthropic", async () => {
    assert.deepEqual(await sent({ provider: "anthropic", temperature_scaled: 0 }), {
      method: "POST",
      path: "/v1/messages",
      keys: { authorization: undefined, apiKey: SECRET, googleKey: undefined },
      version: "2023-06-01",
      body: {
        model: "m-1",
        max_tokens: 100,
        system: "Be brief. ✓",
        messages: [{ role: "user", content: prompt }],
        temperature: 0,
        stream: true,
      },
    });
  });

  it("is content to generate from for Gemini, and the model stays one segment of its path", async () => {
    const request = await sent({ provider: "gemini", temperature_scaled: 155 });
    assert.deepEqual(request, {
      method: "POST",
      path: "/v1beta/models/m-1:streamGenerateContent?alt=sse",
      keys: { authorization: undefined, apiKey: undefined, googleKey: SECRET },
      version: undefined,
      body: {
        systemInstruction: { parts: [{ text: "Be brief. ✓" }] },
        contents: [{ role: "user", parts: [{ text: prompt }] }],
        generationConfig: { maxOutputTokens: 100, temperature: 1.55 },
      },
    });
    for (const model of ["../files/x", "a/b:countTokens?x=", "a#b", "..", "m%2f.."]) {
      const { path } = await sent({ provider: "gemini", model });
      assert.equal(path, `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`);
    }
  });

  it("uses the token limit's name of newer models, and sends no key if none is configured", async () => {
    const [openai = assert.fail()] = providersAt(at.server);
    const { key: _, ...keyless } = { ...openai, maxTokensField: "max_completion_tokens" as const };
    at.reply = { body: STREAMS.openai };
    assert.equal((await (await openInference(toolAt([keyless]))).ask()).status, "success");
    const { headers, body } = at.server.requests.at(-1) ?? assert.fail();
    assert.equal(headers.authorization, undefined);
    assert.ok(isJsonObject(body) && body["max_completion_tokens"] === 100 && !("max_tokens" in body));
  });
});

describe("inference: its declaration", () => {
  it("is rejected for unreachable providers and for invalid prices", () => {
    const [provider = assert.fail()] = providersAt(at.server);
    const price = { inputPricePerMillion: 1, outputPricePerMillion: 1 };
    for (const providers of [
      [],
      [provider, provider],
      ...["", "api.example.com", "ftp://example.com", "https://a:b@example.com", "https://*/", "https://x/?a"].map(
        (baseUrl) => [{ ...provider, baseUrl }],
      ),
      ...[-1, Number.NaN, Number.POSITIVE_INFINITY].flatMap((wrong) => [
        [{ ...provider, defaultPrice: { ...price, inputPricePerMillion: wrong } }],
        [{ ...provider, models: [{ ...price, model: "m", outputPricePerMillion: wrong }] }],
      ]),
    ]) {
      assert.throws(() => createInference(providers), { code: "INVALID_DECLARATION" }, JSON.stringify(providers));
    }
  });

  it("names the places of its providers, and no others", () => {
    const tool = createInference([
      { ...(providersAt(at.server)[0] ?? assert.fail()), baseUrl: "https://API.example.com/v1/" },
      ...providersAt(at.server).slice(1),
    ]);
    const here = { host: "127.0.0.1", ports: [Number(new URL(at.server.url).port)] };
    assert.deepEqual(tool.endpoints, [{ host: "api.example.com", ports: [443] }, here, here]);
  });

  it("has an effect, no determinism, and a right for each model", () => {
    const tool = createInference(providersAt(at.server));
    assert.deepEqual(
      [tool.tier, tool.determinism, tool.effects, tool.labels, tool.price],
      ["side_effecting", "nondeterministic", ["inference"], ["untrusted"], 0],
    );
    const session = { id: "s", tenant: "", workspace: "/", workingDirectory: "." };
    const input = { provider: "gemini", model: "m-9", max_tokens: 5 };
    const models = [{ provider: "gemini", model: "m-9" }];
    assert.deepEqual(tool.needs?.(input, session), [{ kind: "inference", models }]);
    assert.deepEqual(tool.reserves?.(input), { inference_tokens: 5, cost_units: 50 });
    assert.deepEqual(tool.reserves?.({ ...input, model: "cheap" }), { inference_tokens: 5, cost_units: 0 });
  });
});
