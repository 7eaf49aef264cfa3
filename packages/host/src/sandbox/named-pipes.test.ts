import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { NamedPipes } from "./named-pipes.ts";
import { readAll } from "./read-all.ts";

const MB = 1024 * 1024;

describe("pipes for children", () => {
  let directory: string;
  let note: string;
  let pipes: NamedPipes;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "narthex-pipes-"));
    note = join(directory, "pipes");
    pipes = NamedPipes.at(note);
  });
  after(async () => {
    await pipes.close();
    await rm(directory, { recursive: true });
  });

  async function run(script: string): Promise<readonly [string, string, number | null]> {
    const [out, err] = [await pipes.take(), await pipes.take()];
    const child = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", out.file.fd, err.file.fd] });
    const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
    await Promise.all([out.file.close(), err.file.close()]);
    const [output, errors, code] = await Promise.all([readAll(out.output, 4 * MB), readAll(err.output, MB), exited]);
    out.release();
    err.release();
    return [output.toString(), errors.toString(), code];
  }

  it("can be opened again by their names", async () => {
    const script = "echo right > /dev/stdout; echo wrong > /dev/stderr; echo both | tee /dev/stderr";
    assert.deepEqual(await run(script), ["right\nboth\n", "wrong\nboth\n", 0]);
  });

  it("carry more than they hold, and end with the child", async () => {
    const [output, , code] = await run("head -c 3000000 /dev/zero; exit 7");
    assert.deepEqual([output.length, code], [3_000_000, 7]);
  });

  it("are used again, with nothing of the child before in them", async () => {
    await run("true");
    const place = await readFile(note, "utf8");
    const before = (await readdir(place)).length;
    for (let round = 0; round < 40; round++) assert.deepEqual(await run(`echo ${round}`), [`${round}\n`, "", 0]);
    assert.equal((await readdir(place)).length, before);
  });

  it("serve many children at once", async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => run(`echo child ${n}`)));
    assert.deepEqual(
      answers.map(([output]) => output),
      Array.from({ length: 40 }, (_, n) => `child ${n}\n`),
    );
  });

  it("leave nothing when they are closed, or when the next kernel comes after a crash", async () => {
    const elsewhere = async (end: string): Promise<string> => {
      const script = `import { NamedPipes } from ${JSON.stringify(import.meta.resolve("./named-pipes.ts"))};
        const pipes = NamedPipes.at(${JSON.stringify(join(directory, "other"))});
        const { file } = await pipes.take();
        await file.close();
        ${end}`;
      await promisify(execFile)(process.execPath, ["--input-type=module-typescript", "-e", script]);
      return await readFile(join(directory, "other"), "utf8").catch(() => "");
    };
    const left = await elsewhere("process.exit();");
    assert.ok(existsSync(left));
    assert.equal(await elsewhere("await pipes.close(); process.exit();"), "");
    assert.equal(existsSync(left), false);
  });
});
