import {
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import type { Observer, StageEvent } from "@narthex/kernel";
import {
  CALL_ID,
  DOOR,
  ERROR_TYPE,
  EXECUTE_TOOL,
  OPERATION,
  SESSION_ID,
  STAGE_PREFIX,
  STATUS,
  TOOL_NAME,
  TOOL_TYPE,
} from "./span-names.ts";

/** Maximum number of characters of a call's id in a span. SECURITY: the caller chooses the id. */
const MAX_ID = 256;
const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

interface OpenCall {
  readonly span: Span;
  /** Context of the spans of its stages. */
  readonly inside: Context;
  stage: Span | undefined;
}

/**
 * Creates a span for each call, as a child of the caller's span, and a child span for each stage. No span contains
 * inputs or results.
 */
export function createCallSpans(tracer: Tracer): Observer {
  const open = new Map<object, OpenCall>();
  return {
    stage(event) {
      const call = open.get(event.call) ?? begin(tracer, event, open);
      call.stage?.end();
      call.stage = undefined;
      if (event.stage === "done") {
        end(call.span, event);
        open.delete(event.call);
        return;
      }
      call.stage = tracer.startSpan(`${STAGE_PREFIX}${event.stage}`, {}, call.inside);
    },
  };
}

function begin(tracer: Tracer, { call, door, traceParent }: StageEvent, open: Map<object, OpenCall>): OpenCall {
  const caller = parseTraceParent(traceParent);
  // For a call in this process, the caller's span is the active one.
  const outside = caller === undefined ? context.active() : trace.setSpanContext(ROOT_CONTEXT, caller);
  const attributes = { [OPERATION]: EXECUTE_TOOL, [TOOL_TYPE]: "function", [DOOR]: door };
  const span = tracer.startSpan(EXECUTE_TOOL, { kind: SpanKind.INTERNAL, attributes }, outside);
  const begun = { span, inside: trace.setSpan(outside, span), stage: undefined };
  open.set(call, begun);
  return begun;
}

/** Sets the attributes that are known only once the call was admitted. */
function end(span: Span, { toolName, requestId, sessionId, outcome }: StageEvent): void {
  if (toolName !== undefined && toolName !== "") {
    const name = toolName.slice(0, MAX_ID);
    span.updateName(`${EXECUTE_TOOL} ${name}`);
    span.setAttribute(TOOL_NAME, name);
  }
  span.setAttribute(CALL_ID, requestId.slice(0, MAX_ID));
  if (sessionId !== undefined) span.setAttribute(SESSION_ID, sessionId);
  span.setAttribute(STATUS, outcome?.status ?? "error");
  if (outcome?.status !== "success") {
    const code = outcome?.code ?? "INTERNAL";
    span.setAttribute(ERROR_TYPE, code);
    span.setStatus({ code: SpanStatusCode.ERROR, message: code });
  }
  span.end();
}

/** Returns undefined for text that is not a valid W3C Trace Context. */
export function parseTraceParent(text: string | undefined): SpanContext | undefined {
  const match = TRACE_PARENT.exec(text ?? "");
  if (match === null || text?.startsWith("ff") === true) return undefined;
  const [, traceId = "", spanId = "", flags = ""] = match;
  const caller = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(caller) ? caller : undefined;
}
