/** A declared bound that a call requests to exceed. */
export interface BoundExcess {
  readonly bound: "timeout_ms" | "max_cpu_ms";
  readonly asked: number;
  readonly most: number;
}

interface Times {
  readonly timeoutMs: number;
  readonly maxCpuMs?: number | undefined;
}

export function findBoundExcess(requested: Times, declared: Times): BoundExcess | undefined {
  if (requested.timeoutMs > declared.timeoutMs) {
    return { bound: "timeout_ms", asked: requested.timeoutMs, most: declared.timeoutMs };
  }
  const [cpuMs, most] = [requested.maxCpuMs, declared.maxCpuMs];
  if (cpuMs === undefined || most === undefined || cpuMs <= most) return undefined;
  return { bound: "max_cpu_ms", asked: cpuMs, most };
}

export function describeBoundExcess(tool: string, { bound, asked, most }: BoundExcess): string {
  return `the call asks for ${asked} of ${bound}; \`${tool}\` has at most ${most}`;
}
