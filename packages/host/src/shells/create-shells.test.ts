import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { ProgramsDriver } from "../programs/create-programs.ts";
import { type Containment, openContainment } from "../sandbox/open-containment.ts";
import { createShells } from "./create-shells.ts";
import { Mutex } from "../system/mutex.ts";

const NEVER = new AbortController().signal;

describe("on a host where nothing can be contained", () => {
  let directory: string;
  let containment: Containment;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "narthex-shells-"));
    // Without bubblewrap.
    containment = await openContainment({ directory, path: [] });
  });
  after(() => rm(directory, { recursive: true }));

  const programs = { start: () => assert.fail("a program was started") } as unknown as ProgramsDriver;
  const place = { sessionId: "s", workspace: "/", access: "write", mayFork: true, keepsProtected: true } as const;

  for (const backend of ["sandbox", "session"] as const) {
    it(`${backend} is disabled, with the reason and what to do`, async () => {
      assert.equal(containment.level, "L2");
      const shells = createShells({ backend, containment: async () => containment, programs });
      const command = { command: "true", environment: {}, workingDirectory: ".", startDirectory: "." };
      const refusal = { code: "SANDBOX_UNAVAILABLE", message: /disabled on this host: .*bubblewrap/ };
      await assert.rejects(shells.backend(), refusal);
      await assert.rejects(shells.run(place, { ...command, input: new Uint8Array() }, NEVER), refusal);
      await assert.rejects(shells.spawn(place, command, NEVER), refusal);
      await shells.close();
    });
  }

  it("leaves the host's own shell, and only to a configuration that names it", async () => {
    const shells = createShells({ backend: "host", containment: async () => containment, programs });
    assert.equal(await shells.backend(), "host");
    assert.ok(await readdir(directory));
  });
});

describe("a queue", () => {
  it("lets in one after the other, and passes over those who gave up", async () => {
    const queue = new Mutex();
    const order: number[] = [];
    const leaveFirst = await queue.acquire(NEVER);
    const impatient = new AbortController();
    const second = queue.acquire(impatient.signal);
    const third = queue.acquire(NEVER).then((leave) => {
      order.push(3);
      leave();
    });
    const fourth = queue.acquire(NEVER).then((leave) => {
      order.push(4);
      leave();
    });
    impatient.abort(new Error("gave up"));
    await assert.rejects(second, /gave up/);
    assert.deepEqual(order, []);
    leaveFirst();
    await Promise.all([third, fourth]);
    assert.deepEqual(order, [3, 4]);
  });
});
