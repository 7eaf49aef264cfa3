import { blake3, commitTo, createId, digestRequest, hashRecord, hashToken, toHex, utf8 } from "@narthex/contracts";
import { sampleLedger } from "../sample-ledger.ts";

const TOKEN = "ntx_ses_aaaaaaaaaaaaaaaaaaaa_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const COUNTING = Uint8Array.from({ length: 32 }, (_, i) => i);
const REQUESTS = [
  { tool_name: "echo", tool_version: "", input: "{}" },
  { tool_name: "echo", tool_version: "1.0.0", input: "{}" },
  { tool_name: "ech", tool_version: "o1.0.0", input: "{}" },
  { tool_name: "", tool_version: "", input: "null" },
  { tool_name: "größe", tool_version: "1.0.0-β", input: '{"a":[1,2,3]}' },
];

/** One example of every kind of hash, with its input. */
export function digestVectors(): unknown {
  return {
    content: [new Uint8Array(0), utf8("narthex"), COUNTING, new Uint8Array(3000).fill(7)].map((bytes) => ({
      bytes: toHex(bytes),
      hash: toHex(blake3(bytes)),
    })),
    record: sampleLedger()
      .rows.slice(0, 4)
      .map(({ record }) => ({ record: toHex(record), hash: toHex(hashRecord(record)) })),
    commitment: [
      { digest: COUNTING, nonce: new Uint8Array(32) },
      { digest: new Uint8Array(32), nonce: COUNTING },
    ].map(({ digest, nonce }) => ({
      digest: toHex(digest),
      nonce: toHex(nonce),
      commitment: toHex(commitTo(digest, nonce)),
    })),
    request: REQUESTS.map(({ tool_name, tool_version, input }) => {
      const inputDigest = blake3(utf8(input));
      const digest = digestRequest({ toolName: tool_name, toolVersion: tool_version, inputDigest });
      return { tool_name, tool_version, input_digest: toHex(inputDigest), digest: toHex(digest) };
    }),
    token: [{ token: TOKEN, hash: toHex(hashToken(TOKEN)) }],
    id: [COUNTING, new Uint8Array(32).fill(0xff)].map((bytes) => ({
      random: toHex(bytes.subarray(0, 13)),
      id: createId("ses", (length) => bytes.slice(0, length)),
    })),
  };
}
