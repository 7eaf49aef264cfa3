import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { blake3, isKernelError, type KernelError, toHex } from "@narthex/contracts";
import type { WasmCall, WasmModule } from "@narthex/kernel";
import { encodeMessage, type WorkerMessage, MessageReader } from "../../files/worker/worker-message.ts";
import type { HostProgram } from "../wasm-host-process.ts";
import { HOST_REQUEST_BOUNDS } from "../worker/messages.ts";

/**
 * (module (import "narthex" "host" (func $host (param i32 i32 i32) (result i64)))
 *   (memory (export "memory") 1) (data (i32.const 0) "0")
 *   (func (export "alloc") (param i32) (result i32) (i32.const 1024))
 *   (func (export "run") (param i32 i32) (result i64)
 *     (if (i32.gt_u (local.get 1) (i32.const 8)) (then (loop $again (br $again))))
 *     (drop (call $host (i32.const 1) (i32.const 0) (i32.const 0)))
 *     (i64.const 1)))
 *
 * As bytes, so that no assembler is needed. The module makes one host call and outputs `0`. With an input of more than
 * eight bytes it never ends.
 */
export const MODULE = Uint8Array.from(
  Buffer.from(
    [
      "0061736d0100000001130360037f7f7f017e60017f017f60027f7f017e021001076e61727468657804686f7374000003",
      "030201020503010001071803066d656d6f7279020005616c6c6f6300010372756e00020a220205004180080b1a002001",
      "41084b044003400c000b0b41014100410010001a42010b0b07010041000b0130",
    ].join(""),
    "hex",
  ),
);

function moduleOf(bytes: Uint8Array): WasmModule {
  return { hash: toHex(blake3(bytes)), read: () => Promise.resolve(bytes) };
}

export function callOf(bytes: Uint8Array, more: Partial<WasmCall> = {}): WasmCall {
  return {
    module: moduleOf(bytes),
    place: "place",
    allowsSimd: false,
    limits: { fuel: 1e9, memoryBytes: 1024 * 1024 },
    input: Buffer.from("{}"),
    ...more,
  };
}

export function signal(): AbortSignal {
  return new AbortController().signal;
}

/** A host whose messages the test controls. */
export interface ScriptedHost extends HostProgram {
  say(id: number, header: object, payload?: Uint8Array): void;
  /** Writes arbitrary bytes, which need not be a valid message. */
  sayBytes(bytes: Uint8Array): void;
  readonly heard: WorkerMessage[];
  readonly isKilled: boolean;
}

/** Creates a host that calls `answer` for every message it receives. */
export function scriptHost(answer: (frame: WorkerMessage, host: ScriptedHost) => void): ScriptedHost {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const frames = new MessageReader(HOST_REQUEST_BOUNDS);
  const { promise, resolve } = Promise.withResolvers<Awaited<HostProgram["ended"]>>();
  let isKilled = false;
  const host: ScriptedHost = {
    stdin,
    stdout,
    stderr,
    ended: promise,
    heard: [],
    get isKilled() {
      return isKilled;
    },
    kill() {
      isKilled = true;
      resolve({ exitCode: undefined, exceeded: undefined, peakMemoryBytes: 0 });
    },
    say(id, header, payload) {
      for (const piece of encodeMessage(id, header, payload)) stdout.write(piece);
    },
    sayBytes: (bytes) => void stdout.write(bytes),
  };
  stdin.on("data", (piece: Buffer) => {
    for (const frame of frames.push(piece)) {
      host.heard.push(frame);
      answer(frame, host);
    }
  });
  host.say(0, { type: "ready" });
  return host;
}

export async function assertCode(work: Promise<unknown>, code: string): Promise<KernelError> {
  const fault = await work.then(
    () => assert.fail(`it went well, and should be ${code}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(isKernelError(fault), String(fault));
  assert.equal(fault.code, code, fault.message);
  return fault;
}
