import assert from "node:assert/strict";
import { chown, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { create, decodeResponse, encode, type ToolResponse, ToolRequestSchema } from "@narthex/contracts";
import { createHostedHome, type Serving, type TestHome } from "../cli/home.ts";

export type RequestFields = NonNullable<Parameters<typeof create<typeof ToolRequestSchema>>[1]>;

export interface ServedKernelOptions {
  /** What `narthex.yaml` says. */
  readonly configuration?: string;
  /** Rules beside the default ones. */
  readonly rules?: string;
  /** The session's lease, if it is not the default one. */
  readonly lease?: (home: TestHome) => object;
  /** What is done to the home before its kernel starts. */
  prepare?(home: TestHome): Promise<void>;
}

/** A served kernel with one session, attacked through its framed socket. */
export interface ServedKernel {
  readonly home: TestHome;
  readonly session: { readonly id: string; readonly token: string };
  /** Sends these very bytes as one frame and gives the answer. */
  send(bytes: Uint8Array): Promise<ToolResponse>;
  /** A request of the session's, unless its fields say otherwise. */
  request(fields: RequestFields): Promise<ToolResponse>;
  /** A well-formed request with this text as its JSON input. */
  call(tool: string, inputText: string | Uint8Array, requestId?: string, dedupeKey?: string): Promise<ToolResponse>;
  /** Opens a further session with this lease. */
  openSession(lease: object): Promise<{ readonly id: string; readonly token: string }>;
  readonly listen: string;
  readonly framedSocket: string;
  /** The kernel is still there and its ledger is sound. */
  assertSound(): Promise<void>;
  stop(): Promise<void>;
}

export async function serveKernel(options: ServedKernelOptions = {}): Promise<ServedKernel> {
  const home = await createHostedHome();
  // SECURITY: sandboxes never run as root, so a test that does gives its workspace to somebody.
  if (process.getuid?.() === 0) await chown(home.workspace, 1000, 1000);
  const { configuration, rules, prepare } = options;
  if (configuration !== undefined || rules !== undefined) await home.ask(["init"]);
  if (configuration !== undefined) await writeFile(join(home.home, "narthex.yaml"), configuration, { mode: 0o600 });
  if (rules !== undefined) await writeFile(join(home.home, "policy", "attacked.cedar"), rules, { mode: 0o600 });
  await prepare?.(home);
  const serving = await home.serve();
  return reachKernel(home, serving, options.lease?.(home));
}

async function reachKernel(home: TestHome, serving: Serving, lease?: object): Promise<ServedKernel> {
  const framedSocket = String(serving.ready["framed_socket"]);
  let leases = 0;
  let calls = 0;

  const openSession = async (wanted: object): Promise<{ id: string; token: string }> => {
    const file = join(home.root, `lease-${++leases}.json`);
    await writeFile(file, JSON.stringify(wanted));
    return home.openSession("--lease", file);
  };
  const session = lease === undefined ? await home.openSession() : await openSession(lease);

  const send = (bytes: Uint8Array): Promise<ToolResponse> =>
    new Promise((resolve, reject) => {
      const head = Buffer.alloc(4);
      head.writeUInt32BE(bytes.length);
      const socket = connect(framedSocket, () => socket.write(Buffer.concat([Buffer.from("NTX1"), head, bytes])));
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

  const request = (fields: RequestFields): Promise<ToolResponse> =>
    send(encode(create(ToolRequestSchema, { requestId: `r${++calls}`, sessionToken: session.token, ...fields })));

  return {
    home,
    session,
    send,
    request,
    openSession,
    listen: String(serving.ready["listen"]),
    framedSocket,
    call(tool, inputText, requestId = `r${++calls}`, dedupeKey = "") {
      const input = typeof inputText === "string" ? Buffer.from(inputText) : inputText;
      return request({ requestId, dedupeKey, tool: { case: "call", value: { name: tool, input } } });
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
