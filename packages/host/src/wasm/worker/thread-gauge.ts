import { readFileSync, readlinkSync } from "node:fs";
import type { ModuleUse } from "./messages.ts";

/** Indexes of the numbers that a thread shares with the host's main thread. */
const THREAD_ID = 0;
const STARTED_CPU_MS = 1;
const FUEL = 2;
const MEMORY_PAGES = 3;
const NUMBERS = 4;
/** Marks a run that has not started. */
const NOT_STARTED = -1;

const US_PER_MS = 1000;
const NS_PER_MS = 1_000_000;
/** Linux reports a hundred ticks per second to every program. */
const MS_PER_TICK = 10;

/**
 * A thread's usage, visible to the main thread: a thread in an endless loop cannot be queried. Fuel and memory are
 * those of the last host call, CPU time is current.
 */
export class ThreadGauge {
  readonly numbers: Float64Array;

  constructor(
    numbers: Float64Array = new Float64Array(new SharedArrayBuffer(NUMBERS * Float64Array.BYTES_PER_ELEMENT)),
  ) {
    this.numbers = numbers;
  }

  /** Called by the main thread before it passes a job. */
  reset(): void {
    this.numbers[STARTED_CPU_MS] = NOT_STARTED;
    this.numbers[FUEL] = 0;
    this.numbers[MEMORY_PAGES] = 0;
  }

  /** Called by the thread itself when it starts. */
  identify(): void {
    // "PID/task/TID"
    this.numbers[THREAD_ID] = Number(/\d+$/.exec(readlinkSync("/proc/thread-self"))?.[0] ?? 0);
  }

  /** Called by the thread itself before it starts a job. */
  begin(): void {
    this.numbers[STARTED_CPU_MS] = ownCpuMs();
  }

  /** Called by the thread itself at a host call. */
  note({ fuel, memoryPages }: Pick<ModuleUse, "fuel" | "memoryPages">): void {
    this.numbers[FUEL] = fuel;
    this.numbers[MEMORY_PAGES] = memoryPages;
  }

  /** Called by the thread itself: CPU time of the job. */
  ownCpuMs(): number {
    return Math.ceil(ownCpuMs() - this.#number(STARTED_CPU_MS));
  }

  /** Called by the main thread: minimum usage of the job so far. Undefined if the thread is gone. */
  seen(): ModuleUse | undefined {
    const cpuMs = this.seenCpuMs();
    return cpuMs === undefined
      ? undefined
      : { fuel: this.#number(FUEL), memoryPages: this.#number(MEMORY_PAGES), cpuMs };
  }

  /** Called by the main thread. Undefined if the thread is gone. */
  seenCpuMs(): number | undefined {
    const startedMs = this.#number(STARTED_CPU_MS);
    if (startedMs === NOT_STARTED) return 0;
    const cpuMs = cpuMsOf(this.#number(THREAD_ID));
    return cpuMs === undefined ? undefined : Math.max(0, Math.ceil(cpuMs - startedMs));
  }

  #number(place: number): number {
    return this.numbers[place] ?? 0;
  }
}

/** Reads the CPU time of another thread of this process. */
function cpuMsOf(threadId: number): number | undefined {
  const task = `/proc/self/task/${threadId}`;
  // Nanoseconds of CPU time, nanoseconds of waiting for it, time slices.
  const [nanoseconds] = fieldsOf(`${task}/schedstat`) ?? [];
  if (nanoseconds !== undefined) return Number(nanoseconds) / NS_PER_MS;
  // Not every Linux kernel has schedstat. In stat, fields 14 and 15, counted from 1, are user and system time; the
  // second is a name.
  const [user, system] = fieldsOf(`${task}/stat`)?.slice(13) ?? [];
  return user === undefined ? undefined : (Number(user) + Number(system)) * MS_PER_TICK;
}

function fieldsOf(file: string): string[] | undefined {
  try {
    // The name is in parentheses, and may contain spaces and parentheses.
    return readFileSync(file, "latin1")
      .replace(/\(.*\)/s, "name")
      .split(" ");
  } catch {
    return undefined;
  }
}

function ownCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / US_PER_MS;
}
