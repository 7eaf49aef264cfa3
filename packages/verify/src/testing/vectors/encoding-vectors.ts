import { create, DecodeError, decode, encode, fromHex, ToolRequestSchema, toHex } from "@narthex/contracts";
import { messageInit, type VectorFields } from "./message-init.ts";

const HASH = { hex: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f" };
const TOKEN = "ntx_ses_aaaaaaaaaaaaaaaaaaaa_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const HEAD = { request_id: "req-1", session_token: TOKEN };

const REQUESTS: readonly { readonly name: string; readonly fields: VectorFields }[] = [
  { name: "nothing at all", fields: {} },
  { name: "file_read, the whole file", fields: { ...HEAD, file_read: { path: "src/main.ts" } } },
  {
    name: "file_read with every field",
    fields: { ...HEAD, dedupe_key: "key-1", file_read: { path: "/a/b", offset: 300, limit: 1073741824 } },
  },
  { name: "file_read beyond 2^53", fields: { ...HEAD, file_read: { path: "a", offset: "18446744073709551615" } } },
  {
    name: "file_write",
    fields: { ...HEAD, file_write: { path: "out.bin", content: { hex: "00ff80" }, create_only: true } },
  },
  { name: "file_write of nothing", fields: { ...HEAD, file_write: { path: "empty", append: true } } },
  {
    name: "file_edit beyond ASCII",
    fields: { ...HEAD, file_edit: { path: "naïve.txt", old_content: "€", new_content: "😀\u0000\ufeff" } },
  },
  {
    name: "shell_exec",
    fields: {
      ...HEAD,
      shell_exec: { command: "npm test", cwd: "pkg", timeout_ms: 300000, network_access: true, env: ["A=1", "B="] },
    },
  },
  { name: "git_op", fields: { ...HEAD, git_op: { operation: "LOG", args: ["--oneline", "", "-5"], cwd: "repo" } } },
  {
    name: "inference",
    fields: {
      ...HEAD,
      inference: {
        provider: "local",
        model: "small",
        prompt_hash: HASH,
        max_tokens: 4096,
        temperature_scaled: 70,
        system_prompt_hash: HASH,
      },
    },
  },
  {
    name: "artifact_publish",
    fields: {
      ...HEAD,
      artifact_publish: { artifact_id: "report", content_hash: HASH, category: "text", metadata: ["format=md"] },
    },
  },
  {
    name: "call",
    fields: { ...HEAD, call: { name: "echo", version: "1.0.0", input: { hex: "7b2274657874223a226869227d" } } },
  },
  { name: "call of nothing", fields: { ...HEAD, call: {} } },
  { name: "cancel", fields: { ...HEAD, cancel: { request_id: "req-0" } } },
];

/** Accepted, and decoded like the canonical form. */
const OTHER_SPELLINGS: readonly { readonly name: string; readonly hex: string; readonly canonical: string }[] = [
  { name: "fields in another order", hex: "52030a01611201740a0172", canonical: "0a017212017452030a0161" },
  {
    name: "defaults written out",
    hex: "0a0172 120174 1a00 5207 0a0161 1000 1800",
    canonical: "0a017212017452030a0161",
  },
  {
    name: "varints longer than they need be",
    hex: "8a808000 8100 72 120174 5206 0a0161 108500",
    canonical: "0a017212017452050a01611005",
  },
];

const REFUSED: readonly { readonly name: string; readonly hex: string }[] = [
  { name: "an unknown field", hex: "0a0172 2001" },
  { name: "an unknown field of a variant", hex: "0a0172 5205 0a0161 2001" },
  { name: "a field given twice", hex: "0a0172 0a0172" },
  { name: "two variants", hex: "0a0172 52030a0161 6a030a016c" },
  { name: "text that is not UTF-8", hex: "0a026dff" },
  { name: "bytes that break off", hex: "0a0572" },
  { name: "a group", hex: "2324" },
  { name: "a wrong wire type", hex: "0801" },
  { name: "a bool of 2", hex: "5a021802" },
];

/** Requests as fields and as bytes; bytes with the same meaning; bytes that are refused, and why. */
export function encodingVectors(): unknown {
  return {
    requests: REQUESTS.map(({ name, fields }) => ({
      name,
      fields,
      hex: toHex(encode(create(ToolRequestSchema, messageInit(ToolRequestSchema, fields)))),
    })),
    other_spellings: OTHER_SPELLINGS.map(({ name, hex, canonical }) => ({ name, hex: compact(hex), canonical })),
    refused: REFUSED.map(({ name, hex }) => ({ name, hex: compact(hex), violations: violationsOf(compact(hex)) })),
  };
}

function compact(hex: string): string {
  return hex.replaceAll(" ", "");
}

function violationsOf(hex: string): { readonly field: string; readonly rule: string }[] {
  try {
    decode(fromHex(hex) ?? new Uint8Array(0));
  } catch (fault) {
    if (fault instanceof DecodeError) return fault.violations.map(({ field, rule }) => ({ field, rule }));
    throw fault;
  }
  throw new Error(`nothing is wrong with ${hex}`);
}
