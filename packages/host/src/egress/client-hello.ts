/** The first message of a TLS client, with the server name that it requests. */
export type ClientHello =
  | { readonly kind: "more" }
  /** Not the beginning of a TLS connection. */
  | { readonly kind: "other" }
  /** The real server name may be encrypted and differ from the visible one. */
  | { readonly kind: "hidden" }
  | { readonly kind: "hello"; readonly serverName: string | undefined };

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
/** Extensions with an encrypted server name: Encrypted Client Hello, and ESNI before it. */
const HIDDEN_NAMES: ReadonlySet<number> = new Set([0xfe0d, 0xffce]);
const HOST_NAME = 0;
const MAX_RECORD = 16_384;
/** A ClientHello with post-quantum keys has about 2 KB. */
const MAX_HELLO = 32_768;

/** Clients usually send one record. All bytes are parsed again whenever more arrive, so the number is limited. */
const MAX_RECORDS = 16;

/**
 * Parses the server name from the first bytes of a connection.
 *
 * SECURITY: hostile input. Every length is checked against the available bytes. A duplicate extension or more than one
 * name makes the message invalid, so that it has only one interpretation. A ClientHello that contains an encrypted one
 * can request any server: it cannot be distinguished from one that only pretends to contain one.
 */
export function readClientHello(bytes: Uint8Array): ClientHello {
  const parts: Uint8Array[] = [];
  let at = 0;
  while (parts.length < MAX_RECORDS) {
    if ((bytes[at] ?? HANDSHAKE) !== HANDSHAKE || (bytes[at + 1] ?? 3) !== 3) return OTHER;
    if (bytes.length < at + 5) return MORE;
    const length = uint16(bytes, at + 3);
    if (length === 0 || length > MAX_RECORD) return OTHER;
    parts.push(bytes.subarray(at + 5, at + 5 + length));
    const handshake = Buffer.concat(parts);
    if ((handshake[0] ?? CLIENT_HELLO) !== CLIENT_HELLO) return OTHER;
    if (handshake.length >= 4) {
      const size = handshake.readUIntBE(1, 3);
      if (size > MAX_HELLO) return OTHER;
      if (handshake.length >= 4 + size) return parseHello(handshake.subarray(4, 4 + size));
    }
    if (bytes.length < at + 5 + length) return MORE;
    at += 5 + length;
  }
  return OTHER;
}

const MORE = { kind: "more" } as const;
const OTHER = { kind: "other" } as const;
const HIDDEN = { kind: "hidden" } as const;

function parseHello(hello: Uint8Array): ClientHello {
  try {
    const reader = new Reader(hello);
    reader.take(2 + 32);
    reader.take(reader.uint8());
    reader.take(reader.uint16());
    reader.take(reader.uint8());
    if (reader.isAtEnd) return { kind: "hello", serverName: undefined };
    const extensions = new Reader(reader.take(reader.uint16()));
    if (!reader.isAtEnd) return OTHER;
    let names: Uint8Array | undefined;
    while (!extensions.isAtEnd) {
      const type = extensions.uint16();
      const body = extensions.take(extensions.uint16());
      if (HIDDEN_NAMES.has(type)) return HIDDEN;
      if (type !== SERVER_NAME) continue;
      if (names !== undefined) return OTHER;
      names = body;
    }
    return { kind: "hello", serverName: names === undefined ? undefined : parseNames(names) };
  } catch (fault) {
    if (fault instanceof TooShort) return OTHER;
    throw fault;
  }
}

function parseNames(body: Uint8Array): string {
  const outer = new Reader(body);
  const list = new Reader(outer.take(outer.uint16()));
  const type = list.uint8();
  const name = list.take(list.uint16());
  if (type !== HOST_NAME || !list.isAtEnd || !outer.isAtEnd) throw new TooShort();
  return Buffer.from(name).toString("latin1");
}

class TooShort extends Error {}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  uint8(): number {
    return this.take(1)[0] ?? 0;
  }

  uint16(): number {
    return uint16(this.take(2), 0);
  }

  take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new TooShort();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

function uint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
