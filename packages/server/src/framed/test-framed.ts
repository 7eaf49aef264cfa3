import { connect } from "node:net";
import type { TestContext } from "node:test";
import assert from "node:assert/strict";
import {
  create,
  decodeResponse,
  encode,
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
} from "@narthex/contracts";
import { createByteBudget } from "../byte-budget.ts";
import { createTestKernel, type TestKernel } from "../test-kernel.ts";
import { socketPath, toolCall, until } from "../test-socket.ts";
import { joinFrames, PREFACE } from "./frame.ts";
import { type FramedDoorOptions, openFramedDoor } from "./framed-door.ts";

export const MB = 1024 * 1024;

export async function openDoor(t: TestContext, options: Partial<FramedDoorOptions> = {}) {
  const kernel = createTestKernel();
  const path = await socketPath(t);
  const door = await openFramedDoor({ kernel, path, budget: createByteBudget(256 * MB), ...options });
  t.after(() => door.close());
  return { kernel, path, door };
}

/** Creates a client that sends given bytes and collects responses. */
export function rawClient(t: TestContext, path: string) {
  const socket = connect(path);
  const answers: ToolResponse[] = [];
  let received: Buffer = Buffer.alloc(0);
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 4 && received.length >= 4 + received.readUInt32BE(0)) {
      const length = received.readUInt32BE(0);
      answers.push(decodeResponse(Buffer.from(received.subarray(4, 4 + length))));
      received = received.subarray(4 + length);
    }
  });
  t.after(() => socket.destroy());
  // A reset connection is closed, too.
  const closed = new Promise<void>((resolve) => socket.once("close", resolve));
  return { socket, answers, closed };
}

/** Replaces the clock of doors opened from now on; it stands still until it is stepped. */
export function steppedClock(t: TestContext) {
  t.mock.timers.enable({ apis: ["setInterval", "Date"], now: Date.now() });
  return {
    /** Steps a second at a time until the condition holds. */
    stepUntil(condition: () => boolean): Promise<void> {
      return until(() => {
        t.mock.timers.tick(1000);
        return condition();
      });
    },
  };
}

export function frame(request: ToolRequest): Uint8Array {
  const body = encode(request);
  return joinFrames([body], body.length);
}

export function lengthOnly(length: number): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(length);
  return header;
}

export function largeCall(kernel: TestKernel, requestId: string, bytes: number, token = kernel.token): ToolRequest {
  const value = { path: "a", content: new Uint8Array(bytes).fill(1) };
  return create(ToolRequestSchema, { requestId, sessionToken: token, tool: { case: "fileWrite", value } });
}

export async function assertStillAnswers(t: TestContext, kernel: TestKernel, path: string): Promise<void> {
  const { socket, answers } = rawClient(t, path);
  socket.write(PREFACE);
  socket.write(frame(toolCall(kernel, "still-here")));
  await until(() => answers.length === 1);
  assert.equal(answers[0]?.result.case, "success");
}
