import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { sampled } from "../../../../test/sampled.ts";
import { openTranscriptFile } from "./open-transcript-file.ts";
import type { TranscriptEntry } from "./transcript.ts";
import { toTranscriptLine } from "./transcript-lines.ts";

const root = mkdtempSync(join(tmpdir(), "narthex-transcript-"));
after(() => rmSync(root, { recursive: true }));
let made = 0;
const fresh = (): string => join(root, `transcript-${made++}`);

const call = { id: "c", name: "file_read", arguments: '{"path":"a\nb"}' };
const ENTRIES: readonly TranscriptEntry[] = [
  {
    type: "begin",
    runId: "r",
    sessionId: "ses_a",
    messages: [
      { role: "system", text: "Be brief." },
      { role: "user", text: "grüße \ud800 \u2028" },
      { role: "assistant", text: "", calls: [call] },
      { role: "tool", callId: "c", name: "file_read", text: "x", isError: false },
      {
        role: "tool",
        callId: "d",
        name: "file_read",
        text: "",
        isError: false,
        recorded: { sessionId: "ses_a", requestId: "req_b" },
      },
    ],
  },
  {
    type: "turn",
    turn: 1,
    message: { role: "assistant", text: "Hm.", calls: [call], kept: [{ signature: "s" }] },
    isCut: false,
    cost: 1.5,
  },
  { type: "result", turn: 1, at: 0, status: "success", requestId: "req_a", cost: 0, text: "line\nline" },
  { type: "turn", turn: 2, message: { role: "assistant", text: "Done.", calls: [] }, isCut: true, cost: 2 },
];

async function write(path: string, entries = ENTRIES): Promise<void> {
  const file = await openTranscriptFile(path);
  await Promise.all(entries.map((entry) => file.append(entry)));
  await file.close();
}

async function read(path: string): Promise<readonly TranscriptEntry[]> {
  const file = await openTranscriptFile(path);
  const entries = await file.read();
  await file.close();
  return entries;
}

const refused = (code: string) => (fault: unknown) => isKernelError(fault) && fault.code === code;

test("rejects a link, a pipe, a directory and a file that others can read", async () => {
  const [link, pipe, open] = [fresh(), fresh(), fresh()];
  const target = fresh();
  symlinkSync(target, link);
  execFileSync("mkfifo", ["-m", "600", pipe]);
  await write(open);
  chmodSync(open, 0o640);
  for (const path of [link, pipe, root, open, join(root, "no", "directory")]) {
    await assert.rejects(openTranscriptFile(path), refused("INVALID_INPUT"), path);
  }
  assert.throws(() => statSync(target));
});

test("an open transcript is locked for others, in this process and in another, until it is closed", async () => {
  const path = fresh();
  const transcript = await openTranscriptFile(path);
  await assert.rejects(openTranscriptFile(path), refused("INVALID_INPUT"));
  const module = new URL("./open-transcript-file.ts", import.meta.url).href;
  const opening = `import { openTranscriptFile } from ${JSON.stringify(module)};
    await openTranscriptFile(${JSON.stringify(path)}).then(() => console.log("opened"), ({ code }) => console.log(code));`;
  const elsewhere = (): string =>
    execFileSync(process.execPath, ["--input-type=module", "-e", opening], { encoding: "utf8" }).trim();
  assert.equal(elsewhere(), "INVALID_INPUT");
  await transcript.close();
  await transcript.close();
  assert.equal(elsewhere(), "opened");
  await write(path);
  assert.equal(statSync(`${path}.lock`).mode & 0o777, 0o600);
});

test("rejects a lock that is a link, and creates nothing behind it", async () => {
  const [path, target] = [fresh(), fresh()];
  symlinkSync(target, `${path}.lock`);
  await assert.rejects(openTranscriptFile(path), refused("INVALID_INPUT"));
  assert.throws(() => statSync(target));
});

test("finds a byte that changed before the last entry, and drops nothing", async () => {
  const path = fresh();
  await write(path);
  const bytes = readFileSync(path);
  const lastLine = bytes.lastIndexOf("\n", bytes.length - 2) + 1;
  for (let at = 0; at < lastLine - 1; at += 7) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    writeFileSync(path, changed);
    await assert.rejects(openTranscriptFile(path), refused("CONTENT_DAMAGED"), `byte ${at}`);
    assert.deepEqual(readFileSync(path), changed);
  }
});

test("an invalid line is damage, even with a correct checksum", async () => {
  const lines = [
    {},
    [],
    { type: "other" },
    { ...ENTRIES[2], status: "done" },
    { ...ENTRIES[1], message: { role: "user" } },
  ];
  for (const line of lines) {
    const path = fresh();
    await write(path);
    appendFileSync(path, toTranscriptLine(line as TranscriptEntry));
    await assert.rejects(openTranscriptFile(path), refused("CONTENT_DAMAGED"), JSON.stringify(line));
  }
});

test("truncated anywhere, it keeps the entries before the cut and accepts new ones", async () => {
  const path = fresh();
  await write(path);
  const bytes = readFileSync(path);
  const ends = ENTRIES.map((_, at) => Buffer.concat(ENTRIES.slice(0, at + 1).map(toTranscriptLine)).length);
  const nearEnds = ends.flatMap((end) => [end - 1, end, end + 1]).filter((cut) => cut <= bytes.length);
  const anywhere = sampled([...bytes.keys()], 50);
  for (const cut of new Set([0, ...nearEnds, ...anywhere])) {
    writeFileSync(path, bytes.subarray(0, cut));
    const whole = ENTRIES.slice(0, ends.filter((end) => end <= cut).length);
    assert.deepEqual(await read(path), whole, `cut at ${cut}`);
    await write(path, ENTRIES.slice(1, 2));
    assert.deepEqual(await read(path), [...whole, ENTRIES[1]], `cut at ${cut}`);
  }
});

test("drops a last entry that was only partly written to disk", async () => {
  const path = fresh();
  await write(path);
  const bytes = readFileSync(path);
  bytes.fill(0, bytes.length - 30, bytes.length - 10);
  writeFileSync(path, bytes);
  assert.deepEqual(await read(path), ENTRIES.slice(0, -1));
});

test("a line is the start of a hash, a space and the entry, in a fixed format", () => {
  const [, , result] = ENTRIES;
  assert.ok(result);
  const line = `afd451757a854679 ${JSON.stringify(result)}\n`;
  assert.equal(toTranscriptLine(result).toString(), line);
});

test("a file is private to its owner, and returns what was written", async () => {
  const path = fresh();
  await write(path);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(await read(path), ENTRIES);
});

test("writes nothing after a failed entry", async () => {
  const path = fresh();
  const transcript = await openTranscriptFile(path);
  const circular: { kept?: unknown } = {};
  circular.kept = circular;
  const [entry] = ENTRIES;
  assert.ok(entry);
  await assert.rejects(transcript.append(circular as TranscriptEntry), TypeError);
  await assert.rejects(transcript.append(entry), TypeError);
  await transcript.close();
  assert.equal(statSync(path).size, 0);
});
