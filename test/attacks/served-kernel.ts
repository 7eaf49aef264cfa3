import assert from "node:assert/strict";
import { connect } from "node:net";
import { create, decodeResponse, encode, type ToolResponse, ToolRequestSchema } from "@narthex/contracts";
import { createTestHome, type TestHome } from "../cli/home.ts";

/** A served kernel with one session, attacked through its framed socket. */
export interface ServedKernel {
  readonly home: TestHome;
  readonly session: { readonly id: string; readonly token: string };
  /** Sends these very bytes as one frame and gives the answer. */
  send(bytes: Uint8Array): Promise<ToolResponse>;
  /** A well-formed request with this text as its JSON input. */
  call(tool: string, inputText: string | Uint8Array, requestId?: string, dedupeKey?: string): Promise<ToolResponse>;
  listen: string;
  /** The kernel is still there and its ledger is sound. */
  assertSound(): Promise<void>;
  stop(): Promise<void>;
}

export async function serveKernel(): Promise<ServedKernel> {
  const home = await createTestHome();
  const serving = await home.serve();
  const session = await home.openSession();
  const path = String(serving.ready["framed_socket"]);
  let calls = 0;

  const send = (bytes: Uint8Array): Promise<ToolResponse> =>
    new Promise((resolve, reject) => {
      const head = Buffer.alloc(4);
      head.writeUInt32BE(bytes.length);
      const socket = connect(path, () => socket.write(Buffer.concat([Buffer.from("NTX1"), head, bytes])));
      let received = Buffer.alloc(0);
      socket.on("data", (chunk) => {
        received = Buffer.concat([received, chunk]);
        if (received.length < 4 || received.length < 4 + received.readUInt32BE(0)) return;
        resolve(decodeResponse(received.subarray(4, 4 + received.readUInt32BE(0))));
        socket.destroy();
      });
      socket.on("close", () => reject(new Error("closed without an answer")));
      socket.on("error", reject);
    });

  return {
    home,
    session,
    send,
    listen: String(serving.ready["listen"]),
    call(tool, inputText, requestId = `r${++calls}`, dedupeKey = "") {
      const input = typeof inputText === "string" ? Buffer.from(inputText) : inputText;
      const call = { case: "call" as const, value: { name: tool, input } };
      return send(encode(create(ToolRequestSchema, { requestId, dedupeKey, sessionToken: session.token, tool: call })));
    },
    async assertSound() {
      const report = await home.ask(["ledger", "verify"]);
      assert.deepEqual([report["intact"], report["complete"]], [true, true]);
    },
    async stop() {
      assert.equal(await serving.stop(), 0);
      await home.remove();
    },
  };
}

export function codeOf({ result }: ToolResponse): string {
  if (result.case === "error") return result.value.errorCode;
  if (result.case === "denied") return result.value.rationaleCode;
  return String(result.case);
}
