import { createSocket } from "node:dgram";
import { once } from "node:events";
import { addressBytes } from "../address-class.ts";

/** A record in a DNS response: an address, or the name that the queried name is an alias of. */
export type DnsRecord = { readonly address: string } | { readonly alias: string };

export interface DnsQuery {
  readonly name: string;
  readonly type: "A" | "AAAA" | "other";
  /** Number of the query among those for the same name and type, from 1. */
  readonly turn: number;
}

/** `silence` sends no response at all. */
export type DnsAnswer = readonly DnsRecord[] | "nxdomain" | "silence";

export interface DnsServer {
  /** In the form that `createServerLookUp` takes. */
  readonly address: string;
  readonly queries: readonly DnsQuery[];
}

/** A test, or anything else with a hook at its end. */
export interface Ending {
  after(end: () => Promise<void>): void;
}

const TYPES = new Map([
  [1, "A"],
  [28, "AAAA"],
] as const);

/** Starts a DNS server on a free port; it stops when the test ends. Every record has a TTL of zero seconds. */
export async function serveDns(t: Ending, answer: (query: DnsQuery) => DnsAnswer): Promise<DnsServer> {
  const queries: DnsQuery[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (message, { port, address }) => {
    const { name, type, end } = readQuestion(message);
    const turn = 1 + queries.filter((asked) => asked.name === name && asked.type === type).length;
    const query = { name, type, turn };
    queries.push(query);
    const said = answer(query);
    if (said !== "silence") socket.send(encode(message.subarray(0, end), said), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  t.after(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return { address: `127.0.0.1:${socket.address().port}`, queries };
}

function readQuestion(message: Buffer): { name: string; type: DnsQuery["type"]; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), type: TYPES.get(message.readUInt16BE(at + 1) as 1 | 28) ?? "other", end: at + 5 };
}

function encode(question: Buffer, said: readonly DnsRecord[] | "nxdomain"): Buffer {
  const records = said === "nxdomain" ? [] : said;
  const head = Buffer.from(question.subarray(0, 12));
  head.writeUInt16BE(said === "nxdomain" ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  const owners: Buffer[] = [Buffer.from([0xc0, 12])];
  const encoded = records.map((record) => {
    const [owner = Buffer.alloc(0)] = owners.slice(-1);
    if ("address" in record) return encodeRecord(owner, ...addressData(record.address));
    const alias = encodeName(record.alias);
    owners.push(alias);
    return encodeRecord(owner, 5, alias);
  });
  return Buffer.concat([head, question.subarray(12), ...encoded]);
}

function addressData(address: string): [type: number, data: Buffer] {
  const bytes = Buffer.from(addressBytes(address));
  return address.includes(":") ? [28, bytes] : [1, bytes.subarray(12)];
}

function encodeRecord(owner: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}
