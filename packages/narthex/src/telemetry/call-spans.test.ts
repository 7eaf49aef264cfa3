import assert from "node:assert/strict";
import { test } from "node:test";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { createTestKernel, echoTool } from "@narthex/testkit";
import { STAGES } from "@narthex/kernel";
import { createCallSpans, parseTraceParent } from "./call-spans.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const CALLER = `00-${TRACE}-${SPAN}-01`;

async function spansOf(
  call: Parameters<Awaited<ReturnType<typeof open>>["call"]>[2],
  lease = {},
): Promise<ReadableSpan[]> {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const session = await open(createCallSpans(provider.getTracer("test")), lease);
  await session.call("echo", { secret: "hunter2" }, call);
  return exporter.getFinishedSpans();
}

async function open(observer: ReturnType<typeof createCallSpans>, lease: object) {
  return await (await createTestKernel({ tools: [echoTool], observer })).open({ lease });
}

test("a call is one span named after its tool, with a child for each stage", async () => {
  const spans = await spansOf({ requestId: "r1" });
  const call = spans.at(-1) ?? assert.fail();
  assert.equal(call.name, "execute_tool echo");
  assert.equal(call.attributes["gen_ai.operation.name"], "execute_tool");
  assert.equal(call.attributes["gen_ai.tool.name"], "echo");
  assert.equal(call.attributes["gen_ai.tool.call.id"], "r1");
  assert.equal(call.attributes["narthex.status"], "success");
  const stages = spans.slice(0, -1);
  assert.deepEqual(
    stages.map(({ name }) => name),
    STAGES.map((stage) => `narthex.${stage}`),
  );
  for (const stage of stages) assert.equal(stage.parentSpanContext?.spanId, call.spanContext().spanId);
});

test("a call's span is a child of its caller's, or a root span if that is invalid", async () => {
  const call = (await spansOf({ traceParent: CALLER })).at(-1);
  assert.equal(call?.spanContext().traceId, TRACE);
  assert.equal(call?.parentSpanContext?.spanId, SPAN);
  const alone = (await spansOf({ traceParent: "00-x-y-01" })).at(-1);
  assert.equal(alone?.parentSpanContext, undefined);
});

test("a denied call has its reason, and no span contains input or output", async () => {
  const spans = await spansOf({}, { tool_patterns: ["other"] });
  assert.equal(spans.at(-1)?.attributes["error.type"], "LEASE_SCOPE");
  assert.equal(spans.at(-1)?.status.message, "LEASE_SCOPE");
  const told = spans.map(({ name, attributes, events }) => [name, attributes, events]);
  assert.doesNotMatch(JSON.stringify(told), /hunter2|tok_/);
});

test("ignores an invalid trace context", () => {
  assert.deepEqual(parseTraceParent(CALLER), { traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true });
  const wrong = [
    undefined,
    "",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01 `.repeat(1000),
  ];
  for (const text of wrong) assert.equal(parseTraceParent(text), undefined, String(text).slice(0, 80));
});
