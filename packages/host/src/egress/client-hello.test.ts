import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import { describe, it } from "node:test";
import { connect, type ConnectionOptions } from "node:tls";
import * as fc from "fast-check";
import { runsOf } from "../../../../test/sampled.ts";
import { type ClientHello, readClientHello } from "./client-hello.ts";

/** The first bytes of a real client. */
function captureHello(options: ConnectionOptions): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _, done) {
        resolve(chunk);
        done();
        setImmediate(() => client.destroy());
      },
    });
    const client = connect({ socket, ...options });
    client.on("error", () => undefined);
  });
}

const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const sized = (body: Buffer): Buffer => Buffer.concat([uint16(body.length), body]);
const extension = (type: number, body: Buffer): Buffer => Buffer.concat([uint16(type), sized(body)]);
const name = (text: string, type = 0): Buffer =>
  Buffer.concat([Buffer.from([type]), sized(Buffer.from(text, "latin1"))]);
const names = (...all: readonly Buffer[]): Buffer => extension(0, sized(Buffer.concat(all)));

/** A hello as the rules say, with these extensions, in records of this size. */
function madeHello(extensions: readonly Buffer[] | undefined, recordSize = 16_384, rest = Buffer.alloc(0)): Buffer {
  const fixed = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    Buffer.from([0]),
    sized(Buffer.from([0x13, 1])),
  ]);
  const tail = extensions === undefined ? Buffer.alloc(0) : sized(Buffer.concat(extensions));
  const body = Buffer.concat([fixed, Buffer.from([1, 0]), tail, rest]);
  const handshake = Buffer.concat([Buffer.from([1, body.length >> 16]), uint16(body.length & 0xffff), body]);
  const records: Buffer[] = [];
  for (let at = 0; at < handshake.length; at += recordSize) {
    records.push(Buffer.from([22, 3, 1]), sized(handshake.subarray(at, at + recordSize)));
  }
  return Buffer.concat(records);
}

const hello = (serverName: string | undefined): ClientHello => ({ kind: "hello", serverName });
const OTHER: ClientHello = { kind: "other" };
const MORE: ClientHello = { kind: "more" };

describe("the first bytes of a connection", () => {
  it("that are no TLS are something else at the first byte that shows it", () => {
    for (const text of [
      "GET / HTTP/1.1\r\n",
      "SSH-2.0-x",
      "\x80\x2e\x01\x03\x01",
      "\x15\x03\x01\0\x02\x02\x28",
      "\x17\x03\x03\0\x05",
    ]) {
      assert.deepEqual(readClientHello(Buffer.from(text, "latin1").subarray(0, 1)), OTHER, text);
    }
    assert.deepEqual(readClientHello(Buffer.from([22, 2])), OTHER);
    assert.deepEqual(readClientHello(Buffer.from([22, 3, 1, 0, 5, 2])), OTHER, "a server's hello");
    assert.deepEqual(readClientHello(Buffer.from([22, 3, 1, 0, 0])), OTHER, "an empty record");
    assert.deepEqual(readClientHello(Buffer.from([22, 3, 1, 0x40, 1])), OTHER, "a record that is too long");
    assert.deepEqual(readClientHello(Buffer.from([22, 3, 1, 0, 9, 1, 1, 0, 0])), OTHER, "a hello that is too long");
    assert.deepEqual(readClientHello(Buffer.alloc(0)), MORE);
  });

  it("never throw, whatever they are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        assert.ok(["more", "other", "hidden", "hello"].includes(readClientHello(bytes).kind));
        const dressed = Buffer.concat([
          Buffer.from([22, 3, 1]),
          sized(Buffer.concat([Buffer.from([1, 0]), sized(Buffer.from(bytes))])),
        ]);
        assert.ok(["other", "hidden", "hello"].includes(readClientHello(dressed).kind));
      }),
      { numRuns: runsOf(1000) },
    );
  });

  it("of a real client that were changed in one place never throw, and name what is there or nothing", async () => {
    const real = await captureHello({ servername: "real.example.test" });
    fc.assert(
      fc.property(fc.nat(real.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(real);
        changed[at] = byte;
        const read = readClientHello(changed);
        assert.ok(["more", "other", "hidden", "hello"].includes(read.kind));
        if (read.kind === "hello" && read.serverName !== undefined)
          assert.ok(changed.includes(read.serverName, 0, "latin1"));
      }),
      { numRuns: runsOf(2000) },
    );
  });

  it("of a real client name its server, by every version, however they are split", async () => {
    const cases: readonly (readonly [ConnectionOptions, string | undefined])[] = [
      [{ servername: "real.example.test" }, "real.example.test"],
      [{ servername: "real.example.test", maxVersion: "TLSv1.2" }, "real.example.test"],
      [{ servername: "real.example.test", ALPNProtocols: ["h2", "http/1.1"] }, "real.example.test"],
      [{ host: "127.0.0.1" }, undefined],
    ];
    for (const [options, serverName] of cases) {
      const real = await captureHello(options);
      assert.deepEqual(readClientHello(real), hello(serverName));
      for (let length = 0; length < real.length; length++) {
        assert.deepEqual(readClientHello(real.subarray(0, length)), MORE, `of ${real.length} the first ${length}`);
      }
      assert.deepEqual(readClientHello(Buffer.concat([real, Buffer.from("what follows")])), hello(serverName));
    }
  });

  it("name the same server in whatever records they come", () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 200 }), fc.nat(200), (recordSize, cut) => {
        const bytes = madeHello([extension(43, Buffer.alloc(3)), names(name("split.test"))], recordSize);
        assert.deepEqual(readClientHello(bytes), hello("split.test"));
        if (cut < bytes.length) assert.deepEqual(readClientHello(bytes.subarray(0, cut)), MORE);
      }),
    );
    assert.deepEqual(
      readClientHello(madeHello([names(name("split.test"))], 1)),
      OTHER,
      "more records than any client makes",
    );
  });

  it("with a hello that can be read in two ways are no hello", () => {
    for (const [what, bytes] of Object.entries({
      "two names": madeHello([names(name("a.test"), name("b.test"))]),
      "two lists of names": madeHello([names(name("a.test")), names(name("b.test"))]),
      "a name of another kind": madeHello([names(name("a.test", 1))]),
      "an empty list": madeHello([names()]),
      "an empty extension": madeHello([extension(0, Buffer.alloc(0))]),
      "something behind the list": madeHello([extension(0, Buffer.concat([sized(name("a.test")), Buffer.from([0])]))]),
      "something behind the extensions": madeHello([names(name("a.test"))], 16_384, Buffer.from([0])),
      "half an extension": madeHello([Buffer.from([0, 0, 0, 9, 1])]),
    })) {
      assert.deepEqual(readClientHello(bytes), OTHER, what);
    }
  });

  it("with an encrypted inner hello is reported as hidden, whatever the outer hello names", () => {
    for (const type of [0xfe0d, 0xffce]) {
      const inside = extension(type, Buffer.alloc(180, 1));
      for (const extensions of [[names(name("a.test")), inside], [inside, names(name("a.test"))], [inside]]) {
        assert.deepEqual(readClientHello(madeHello(extensions)), { kind: "hidden" });
      }
    }
  });

  it("may name no host or an invalid host, which the reader must check", () => {
    assert.deepEqual(readClientHello(madeHello(undefined)), hello(undefined));
    assert.deepEqual(readClientHello(madeHello([])), hello(undefined));
    assert.deepEqual(readClientHello(madeHello([names(name("a\0.test"))])), hello("a\0.test"));
    assert.deepEqual(readClientHello(madeHello([names(name(""))])), hello(""));
  });
});
