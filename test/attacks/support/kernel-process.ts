/** A kernel on a home of its own, in a process that can be looked at and killed. Commands and answers are lines of JSON. */
import { createInterface } from "node:readline";
import type { JsonValue } from "@narthex/contracts";
import { createKernel, type CallResult, type KernelSession } from "narthex";
import { limitedRun, RULES } from "./limited-run.ts";
import type { KernelAnswer, KernelCommand } from "./kernel-messages.ts";

const [, , home = ""] = process.argv;
const kernel = await createKernel({
  data: home,
  tools: [limitedRun],
  policies: [{ name: "attacks.cedar", text: RULES }],
});
const sessions = new Map<string, KernelSession>();

function say(answer: KernelAnswer): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function obey(command: KernelCommand): Promise<KernelAnswer> {
  const { id } = command;
  switch (command.kind) {
    case "open": {
      const session = await kernel.session({ workspace: command.workspace });
      sessions.set(session.id, session);
      return { id, kind: "opened", session: session.id };
    }
    case "end":
      await sessions.get(command.session)?.close();
      return { id, kind: "ended" };
    case "call": {
      const { tool, input, requestId, timeoutMs } = command;
      const session = sessions.get(command.session);
      if (session === undefined) throw new Error("there is no such session");
      const onChunk = (chunk: Uint8Array): void => say({ id, kind: "chunk", text: Buffer.from(chunk).toString() });
      const result = await session.call(tool, input, {
        ...(command.wantsOutput && { onChunk }),
        ...(requestId !== undefined && { requestId }),
        ...(timeoutMs !== undefined && { timeoutMs }),
      });
      return { id, kind: "answered", ...described(result) };
    }
  }
}

function described({ status, response, raw }: CallResult): {
  status: CallResult["status"];
  code: string;
  message: string;
  result: JsonValue;
} {
  const { result } = response;
  if (result.case === "error")
    return { status, code: result.value.errorCode, message: result.value.message, result: null };
  if (result.case === "denied") {
    return { status, code: result.value.rationaleCode, message: result.value.message, result: null };
  }
  return { status, code: "", message: "", result: asJson(raw) };
}

/** Bytes become text; whoever wants them exactly asks for their hash. */
function asJson(raw: CallResult["raw"]): JsonValue {
  if (raw instanceof Uint8Array) return Buffer.from(raw).toString("utf8");
  return raw === undefined || isStream(raw) ? null : raw;
}

function isStream(raw: object | JsonValue): raw is AsyncIterable<Uint8Array> {
  return typeof raw === "object" && raw !== null && Symbol.asyncIterator in raw;
}

say({ id: 0, kind: "ready" });
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as KernelCommand;
  obey(command).then(say, (fault: unknown) => {
    const code = fault instanceof Error && "code" in fault ? String(fault.code) : "FAULT";
    say({ id: command.id, kind: "failed", code, message: fault instanceof Error ? fault.message : String(fault) });
  });
}
await kernel.close({ graceMs: 0 });
