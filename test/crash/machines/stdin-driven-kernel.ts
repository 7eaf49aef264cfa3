/**
 * A kernel on a machine that fails. Makes the calls whose ids come in, one line each, all at once, and prints
 * `ID ANSWER` for each; `ready` first, or `refused CODE: MESSAGE` if it cannot start. The end of its input closes it.
 */
import { createInterface } from "node:readline";
import { isKernelError } from "narthex";
import { createKernel } from "../../doors/socket-kernel.ts";
import { callOf } from "../rounds/load-call.ts";
import { createLoadTools } from "../rounds/load-tools.ts";
import { type LoadSession, makeCall } from "../rounds/make-call.ts";
import { sayLine } from "../rounds/say-line.ts";

export interface MachineOrders {
  readonly home: string;
  readonly effects: string;
  readonly sessions: readonly LoadSession[];
  readonly seed: number;
}

const REFUSED = 5;

const { home, effects, sessions, seed } = JSON.parse(process.argv[2] ?? "") as MachineOrders;
const kernel = await createKernel({ data: home, ...createLoadTools({ effects }) }).catch((fault: unknown) => {
  sayLine(`refused ${isKernelError(fault) ? `${fault.code}: ${fault.message}` : String(fault)}`);
  process.exit(REFUSED);
});
sayLine("ready");
const answers: Promise<void>[] = [];
for await (const requestId of createInterface({ input: process.stdin })) {
  answers.push(makeCall(kernel, sessions, callOf(seed, requestId)).then((answer) => sayLine(`${requestId} ${answer}`)));
}
await Promise.all(answers);
await kernel.close({ graceMs: 1000 });
