/** The process of one measurement: gets its orders from its parent, sends back what it found, and ends. */
import type { Bench, Measurement, Outcome } from "./measurement.ts";

export interface Orders {
  /** A `file:` address. */
  readonly module: string;
  readonly exportName: string;
  readonly bench: Bench;
}

export type Answer = { readonly outcome: Outcome } | { readonly notMeasured: string } | { readonly failed: string };

process.once("message", (orders: Orders) => {
  void follow(orders).then((answer) => process.send?.(answer, () => process.exit()));
});

async function follow({ module, exportName, bench }: Orders): Promise<Answer> {
  try {
    const found = (await import(module)) as Readonly<Record<string, Measurement | undefined>>;
    const measure = found[exportName];
    if (measure === undefined) return { failed: `${module} does not export ${exportName}` };
    return { outcome: await measure(bench) };
  } catch (error) {
    if (error instanceof Error && error.name === "NotMeasured") return { notMeasured: error.message };
    console.error(error);
    return { failed: firstLine(error instanceof Error ? error.message : String(error)) };
  }
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
