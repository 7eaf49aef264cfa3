/** A bound of a tool that a call asks to be let beyond. */
export interface BeyondBound {
  readonly bound: "timeout_ms" | "max_cpu_ms";
  readonly asked: number;
  readonly most: number;
}

interface Times {
  readonly timeoutMs: number;
  readonly maxCpuMs?: number | undefined;
}

export function findBeyond(asked: Times, declared: Times): BeyondBound | undefined {
  if (asked.timeoutMs > declared.timeoutMs) {
    return { bound: "timeout_ms", asked: asked.timeoutMs, most: declared.timeoutMs };
  }
  const [cpuMs, most] = [asked.maxCpuMs, declared.maxCpuMs];
  if (cpuMs === undefined || most === undefined || cpuMs <= most) return undefined;
  return { bound: "max_cpu_ms", asked: cpuMs, most };
}

export function describeBeyond(tool: string, { bound, asked, most }: BeyondBound): string {
  return `the call asks for ${asked} of ${bound}; \`${tool}\` has at most ${most}`;
}
