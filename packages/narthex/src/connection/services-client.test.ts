import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import {
  AdminService,
  create,
  fromBinary,
  GetSessionRequestSchema,
  GetSessionResponseSchema,
  KernelService,
  type PutContentRequest,
  PutContentRequestSchema,
  PutContentResponseSchema,
  TailLedgerRequestSchema,
  TailLedgerResponseSchema,
  toBinary,
  utf8,
} from "@narthex/contracts";
import { encodeEnvelope, readEnvelopes } from "./envelope.ts";
import { createServicesClient, type ServicesClient } from "./services-client.ts";

const END = Uint8Array.of(2, 0, 0, 0, 2, 0x7b, 0x7d);

describe("createServicesClient", () => {
  let directory: string;
  let server: Server | undefined;
  let client: ServicesClient;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "narthex-services-"));
  });
  afterEach(() => {
    client.close();
    server?.close();
    server?.closeAllConnections();
  });
  after(() => rm(directory, { recursive: true }));

  async function answer(listener: RequestListener): Promise<void> {
    const path = join(directory, `${Math.random().toString(36).slice(2)}.sock`);
    const opened = createServer(listener);
    await new Promise<void>((resolve) => opened.listen(path, resolve));
    server = opened;
    client = createServicesClient(path);
  }

  const getSession = () =>
    client.unary(AdminService.method.getSession, create(GetSessionRequestSchema, { sessionId: "ses_a" }), {
      token: "secret",
    });
  async function tail(): Promise<number[]> {
    const found: number[] = [];
    const request = create(TailLedgerRequestSchema);
    for await (const { record } of client.serverStream(AdminService.method.tailLedger, request, { token: "t" })) {
      found.push(Number(record?.index));
    }
    return found;
  }

  it("reports a missing socket as an unavailable kernel", async () => {
    client = createServicesClient(join(directory, "none.sock"));
    await assert.rejects(getSession(), { code: "KERNEL_UNREACHABLE" });
    await assert.rejects(tail(), { code: "KERNEL_UNREACHABLE" });
  });

  it("reports a kernel that disconnects without a response", async () => {
    await answer((request) => request.socket.destroy());
    await assert.rejects(getSession(), { code: "KERNEL_UNREACHABLE" });
  });

  it("treats a stream without an end as broken", async () => {
    await answer((_, response) => {
      response.end(encodeEnvelope(toBinary(TailLedgerResponseSchema, create(TailLedgerResponseSchema))));
    });
    await assert.rejects(tail(), { code: "KERNEL_UNREACHABLE" });
  });

  it("returns the error at the end of a stream", async () => {
    await answer((_, response) => {
      const end = utf8('{"error":{"code":"unauthenticated","message":"no"}}');
      const envelope = encodeEnvelope(end);
      envelope[0] = 2;
      response.end(envelope);
    });
    await assert.rejects(tail(), { code: "TOKEN_INVALID", message: "no" });
  });

  it("returns the error of a unary response", async () => {
    await answer((_, response) => {
      response.writeHead(404, { "content-type": "application/json" }).end('{"code":"unavailable","message":"closing"}');
    });
    await assert.rejects(getSession(), { code: "KERNEL_UNREACHABLE", message: "closing" });
  });

  it("sends the token as a bearer and never anywhere else", async () => {
    let seen: IncomingMessage | undefined;
    await answer((request, response) => {
      seen = request;
      response.end(toBinary(GetSessionResponseSchema, create(GetSessionResponseSchema, { session: { calls: 3n } })));
    });
    assert.equal((await getSession()).session?.calls, 3n);
    assert.equal(seen?.url, "/narthex.v1.AdminService/GetSession");
    assert.equal(seen?.headers.authorization, "Bearer secret");
    assert.equal(seen?.headers["content-type"], "application/proto");
  });

  it("reads a stream to its end", async () => {
    await answer((_, response) => {
      for (const index of [4n, 5n]) {
        const message = create(TailLedgerResponseSchema, { record: { index } });
        response.write(encodeEnvelope(toBinary(TailLedgerResponseSchema, message)));
      }
      response.end(END);
    });
    assert.deepEqual(await tail(), [4, 5]);
  });

  it("sends a stream and returns its single response", async () => {
    const received: string[] = [];
    async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
      for await (const { data } of readEnvelopes(request, 1000)) {
        const { part } = fromBinary(PutContentRequestSchema, data);
        if (part.case === "chunk") received.push(Buffer.from(part.value).toString());
      }
      const message = create(PutContentResponseSchema, { size: 2n });
      response.write(encodeEnvelope(toBinary(PutContentResponseSchema, message)));
      response.end(END);
    }
    await answer((request, response) => void receive(request, response));
    async function* parts() {
      for (const text of ["a", "b"]) {
        yield create(PutContentRequestSchema, { part: { case: "chunk", value: utf8(text) } });
      }
    }
    const { size } = await client.clientStream(KernelService.method.putContent, parts(), { token: "t" });
    assert.equal(size, 2n);
    assert.deepEqual(received, ["a", "b"]);
  });

  it("returns the error of a kernel that responds before reading the whole stream", async () => {
    await answer((_, response) => {
      response.writeHead(401).end('{"code":"unauthenticated","message":"no"}');
    });
    async function* endless() {
      for (;;) yield create(PutContentRequestSchema, { part: { case: "chunk", value: new Uint8Array(65536) } });
    }
    const sending = client.clientStream(KernelService.method.putContent, endless(), { token: "t" });
    await assert.rejects(sending, { code: "TOKEN_INVALID" });
  });

  it("returns the error of the source it was sending from", async () => {
    await answer((request) => request.resume());
    async function* failing(): AsyncGenerator<PutContentRequest> {
      yield await Promise.reject<PutContentRequest>(new Error("the file is gone"));
    }
    const sending = client.clientStream(KernelService.method.putContent, failing(), { token: "t" });
    await assert.rejects(sending, /the file is gone/);
  });
});
