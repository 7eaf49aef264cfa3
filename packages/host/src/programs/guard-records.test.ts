import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type RecordedScan, recordName } from "./guard-record.ts";
import { GuardRecords } from "./guard-records.ts";

const FOUND = { kind: "link", device: 1n, inode: 2n, target: "a\xff", mode: 0o777, links: 1 } as const;
const SCAN: RecordedScan = {
  scan: { bases: [".", "sub"], paths: [".env"], git: "guarded" },
  present: new Map([["\udcff/.env", { ...FOUND, content: undefined }]]),
  trusted: { paths: [".githooks", "gh/*"], directories: ["meta"], shapes: ["docs"] },
  allowed: [],
};
const NEVER_MS = 1_000_000;

describe("records of what was protected before programs ran", () => {
  let directory: string;
  const opened: GuardRecords[] = [];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "narthex-records-"));
  });
  afterEach(async () => {
    for (const records of opened.splice(0)) await records.close();
    await rm(directory, { recursive: true });
  });

  function open(idleMs = NEVER_MS, path = directory): GuardRecords {
    const records = new GuardRecords(path, idleMs);
    opened.push(records);
    return records;
  }
  async function reopened(): Promise<GuardRecords> {
    const records = open();
    await records.load();
    return records;
  }

  it("are there as long as a program runs, for the next kernel as they were", async () => {
    const records = open();
    const stay = await records.begin("/w", "ses_a", SCAN);
    const [left] = (await reopened()).list();
    assert.deepEqual(left?.record?.scans, [
      { ...SCAN, present: new Map([["\udcff/.env", { ...FOUND, device: 0n, content: undefined }]]) },
    ]);
    assert.deepEqual([left?.record?.sessions, left?.problem], [["ses_a"], ""]);
    stay.end();
    await records.close();
    assert.deepEqual(await readdir(directory), []);
  });

  it("are written once for programs that follow each other, and go when none follows", async () => {
    const records = open(1);
    const first = await records.begin("/w", "ses_a", SCAN);
    const file = join(directory, recordName("/w"));
    await writeFile(file, "as it was written");
    const second = await records.begin("/w", "ses_a", SCAN);
    assert.equal(await readFile(file, "utf8"), "as it was written");
    first.end();
    const third = await records.begin("/w", "ses_a", { ...SCAN, allowed: [".env"] });
    assert.match(await readFile(file, "utf8"), /"allowed":\[".env"\]/);
    second.end();
    third.end();
    while ((await readdir(directory)).length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  });

  it("stay with what went wrong until it is finished, and are written again for a program that still runs", async () => {
    const records = open();
    const failed = await records.begin("/w", "ses_a", SCAN);
    const other = await records.begin("/w", "ses_b", { ...SCAN, allowed: ["a"] });
    await records.fail("/w", "`.env` (EACCES)");
    failed.end();
    await records.forgetIdle("/w");
    const found = (await reopened()).find("/w");
    assert.deepEqual([found?.problem, found?.record?.scans.length], ["`.env` (EACCES)", 2]);
    await records.finish("/w");
    assert.deepEqual((await reopened()).find("/w")?.record?.scans.length, 1);
    other.end();
    await records.close();
    assert.deepEqual(await readdir(directory), []);
  });

  it("that are damaged leave nothing known of their workspace", async () => {
    await writeFile(join(directory, recordName("/w")), '{"format":1}');
    const found = (await reopened()).find("/w");
    assert.deepEqual([found?.record, found?.workspace], [undefined, ""]);
    assert.match(found?.problem ?? "", /is damaged/);
  });

  it("refuse a program whose record cannot be written", async () => {
    const records = open(NEVER_MS, join(directory, "file/below"));
    await writeFile(join(directory, "file"), "");
    await assert.rejects(records.begin("/w", "ses_a", SCAN), { code: "STORE_UNAVAILABLE" });
  });
});
