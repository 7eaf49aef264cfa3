import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HandleHostCall } from "@narthex/kernel";
import { createWasmRunner } from "./create-wasm-runner.ts";
import { NEVER_RUN } from "./wasm-host-process.ts";
import { assertCode, callOf, MODULE, type ScriptedHost, scriptHost, signal } from "./testing/wasm-fixture.ts";

const never: HandleHostCall = () => assert.fail("nothing was to be asked");

/** A runner whose host does this with the first run that it is given. */
function runnerOf(answer: (id: number, host: ScriptedHost) => void): {
  readonly hosts: ScriptedHost[];
  readonly runner: ReturnType<typeof createWasmRunner>;
} {
  const hosts: ScriptedHost[] = [];
  const start = () => {
    const host = scriptHost(({ id, header }, own) => {
      if ((header as { type: string }).type === "run") answer(id, own);
    });
    hosts.push(host);
    return Promise.resolve(host);
  };
  const containment = (): never => assert.fail("there is none");
  return { hosts, runner: createWasmRunner({ containment, start }) };
}

const ENDED = { type: "ended", how: "answered", use: { fuel: 1, memoryPages: 1, cpuMs: 0 } };

describe("a host that a module has taken over", () => {
  const nonsense: readonly (readonly [string, (id: number, host: ScriptedHost) => void])[] = [
    ["an answer to a call that it was not given", (id, host) => host.say(id + 1, ENDED)],
    ["an end that there is not", (id, host) => host.say(id, { ...ENDED, how: "won" })],
    ["more fuel than numbers go", (id, host) => host.say(id, { ...ENDED, use: { ...ENDED.use, fuel: 2 ** 60 } })],
    ["fuel below nothing", (id, host) => host.say(id, { ...ENDED, use: { ...ENDED.use, fuel: -1 } })],
    ["a trap in its own words", (id, host) => host.say(id, { type: "ended", how: "trapped", trap: "<b>click</b>" })],
    ["a list in the place of an answer", (id, host) => host.say(id, [1])],
    ["a header of a megabyte", (id, host) => host.say(id, { ...ENDED, more: "x".repeat(1024 * 1024) })],
    ["a frame that says it has gigabytes", (_, host) => host.sayBytes(Buffer.alloc(12, 0xff))],
    ["no JSON", (_, host) => host.sayBytes(Buffer.from("00000009000000010000000178", "hex"))],
    ["that a module is loaded that nobody asked for", (id, host) => host.say(id, { type: "loaded", isDeclared: true })],
    ["that it is ready, once more", (id, host) => host.say(id, { type: "ready" })],
    ["a host call without a number", (id, host) => host.say(id, { type: "host_call", code: "1" })],
  ];
  for (const [what, say] of nonsense) {
    it(`is ended where it says ${what}`, async () => {
      const { hosts, runner } = runnerOf(say);
      await assertCode(runner.run(callOf(MODULE), never, signal()), "SANDBOX_ERROR");
      assert.equal(hosts[0]?.isKilled, true);
      await runner.close();
    });
  }

  it("is ended where it asks again before it was answered, and gets no second answer", async () => {
    const { hosts, runner } = runnerOf((id, host) => {
      host.say(id, { type: "host_call", code: 1 });
      host.say(id, { type: "host_call", code: 1 });
    });
    let asked = 0;
    const answer: HandleHostCall = async () => {
      asked++;
      // What the kernel has begun it sees through.
      await hosts[0]?.ended;
      return "failed";
    };
    await assertCode(runner.run(callOf(MODULE), answer, signal()), "SANDBOX_ERROR");
    assert.equal(asked, 1);
    assert.equal(hosts[0]?.heard.length, 1);
    await runner.close();
  });

  it("cannot have a call charged for more of the processor than time went by", async () => {
    const { runner } = runnerOf((id, host) => host.say(id, { ...ENDED, use: { ...ENDED.use, cpuMs: 1e9 } }));
    const { usage } = await runner.run(callOf(MODULE), never, signal());
    assert.ok(usage.cpuMs < 1e9, String(usage.cpuMs));
    await runner.close();
  });

  it("fails the calls it had, and the next call gets another host", async () => {
    let calls = 0;
    const { hosts, runner } = runnerOf((id, host) =>
      calls++ === 0 ? host.kill() : host.say(id, ENDED, Buffer.from("7")),
    );
    await assertCode(runner.run(callOf(MODULE), never, signal()), "SANDBOX_ERROR");
    const { ending } = await runner.run(callOf(MODULE), never, signal());
    assert.equal(ending.kind === "answered" && Buffer.from(ending.output).toString(), "7");
    assert.equal(hosts.length, 2);
    await runner.close();
  });

  it("can quote what a module chose only on one line, and cut", async () => {
    const loads: number[] = [];
    const start = () =>
      Promise.resolve(
        scriptHost(({ id, header }, host) => {
          const { type } = header as { type: string };
          if (type === "run") host.say(id, { type: "missing" });
          else {
            loads.push(id);
            host.say(id, { type: "rejected", reason: "invalid", message: "one\n\u001b[31mtwo\u202e", cpuMs: 0 });
          }
        }),
      );
    const runner = createWasmRunner({ containment: () => assert.fail(), start });
    const { ending } = await runner.run(callOf(MODULE), never, signal());
    assert.deepEqual(ending, { kind: "rejected", reason: "invalid", message: "one [31mtwo " });
    assert.equal(loads.length, 1);
    await runner.close();
  });
});

describe("hosts and their calls", () => {
  it("are one for each place, and the one that was not used for longest makes room", async () => {
    const hosts: ScriptedHost[] = [];
    const start = () => {
      const host = scriptHost(({ id }, own) => own.say(id, ENDED, Buffer.from("1")));
      hosts.push(host);
      return Promise.resolve(host);
    };
    const runner = createWasmRunner({ containment: () => assert.fail(), start, bounds: { maxHosts: 2 } });
    const run = (place: string) => runner.run(callOf(MODULE, { place }), never, signal());
    await run("a");
    await run("b");
    await run("a");
    assert.equal(hosts.length, 2);
    await run("c");
    assert.deepEqual(
      hosts.map(({ isKilled }) => isKilled),
      [false, true, false],
    );
    await runner.close();
    assert.ok(hosts.every(({ isKilled }) => isKilled));
    await assertCode(run("a"), "CANCELLED");
  });

  it("run no more at a time than there may be, by threads and by memory, in the order they came", async () => {
    const waiting: (() => void)[] = [];
    let running = 0;
    let most = 0;
    const { runner } = (() => {
      const start = () =>
        Promise.resolve(
          scriptHost(({ id }, host) => {
            most = Math.max(most, ++running);
            waiting.push(() => {
              running--;
              host.say(id, ENDED, Buffer.from("1"));
            });
          }),
        );
      const bounds = { maxThreads: 3, maxMemoryBytes: 2 * 1024 * 1024, maxWaiting: 4 };
      return { runner: createWasmRunner({ containment: () => assert.fail(), start, bounds }) };
    })();
    const calls = Array.from({ length: 6 }, () => runner.run(callOf(MODULE), never, signal()));
    const outcomes = Promise.all(calls);
    await assertCode(runner.run(callOf(MODULE), never, signal()), "RESOURCE_EXCEEDED");
    for (let done = 0; done < 6; ) {
      const next = waiting.shift();
      if (next === undefined) await new Promise((resolve) => setImmediate(resolve));
      else {
        next();
        done++;
      }
    }
    assert.equal((await outcomes).length, 6);
    // Each has a megabyte.
    assert.equal(most, 2);
    await runner.close();
  });

  it("stop when they are not wanted any more, also while they wait", async () => {
    const { hosts, runner } = runnerOf((_, host) => {
      host.stdin.on("data", () => undefined);
    });
    const [first, second] = [new AbortController(), new AbortController()];
    const bounds = callOf(MODULE, { limits: { fuel: 1, memoryBytes: 1024 ** 3 } });
    const running = runner.run(bounds, never, first.signal);
    const waits = runner.run(bounds, never, second.signal);
    second.abort();
    assert.deepEqual(await waits, NEVER_RUN);
    await until(() => hosts[0]?.heard.length === 1);
    first.abort();
    await until(() => hosts[0]?.heard.length === 2);
    const [run, stop] = hosts[0]?.heard ?? [];
    assert.deepEqual(stop?.header, { type: "stop" });
    // Nobody says what it used: time on the processor can be all that went by.
    hosts[0]?.say(run?.id ?? 0, { type: "ended", how: "stopped" });
    const { ending, usage } = await running;
    assert.deepEqual([ending.kind, usage.fuel, usage.isPartial, usage.cpuMs > 0], ["stopped", 0, true, true]);
    await runner.close();
  });
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
