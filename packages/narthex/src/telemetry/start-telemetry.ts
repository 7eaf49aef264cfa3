import type { Logger, Observer } from "@narthex/kernel";
import { VERSION } from "../version.ts";

/** The span exporter. */
export interface Telemetry {
  readonly observer: Observer;
  /** Sends the remaining spans; gives up after a timeout. */
  close(): Promise<void>;
}

const EXPORTERS = ["otlp", "console", "none"];
const ENDPOINTS = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
const FLUSH_MS = 2000;

/**
 * Starts tracing as OpenTelemetry's own environment variables configure it; returns undefined, without loading any of
 * it, if they do not.
 */
export async function startTelemetry(environment: NodeJS.ProcessEnv, log?: Logger): Promise<Telemetry | undefined> {
  const exporter = exporterFor(environment, log);
  if (exporter === "none") return undefined;
  const [{ BatchSpanProcessor, ConsoleSpanExporter, TracerProvider }, { createCallSpans }, resources] =
    await Promise.all([
      import("@opentelemetry/sdk-trace"),
      import("./call-spans.ts"),
      import("@opentelemetry/resources"),
    ]);
  const exporting =
    exporter === "console"
      ? new ConsoleSpanExporter()
      : new (await import("@opentelemetry/exporter-trace-otlp-http")).OTLPTraceExporter();
  const named = resources.resourceFromAttributes({ "service.name": "narthex", "service.version": VERSION });
  const provider = new TracerProvider({
    resource: named.merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter: exporting })],
  });
  return {
    observer: createCallSpans(provider.getTracer("narthex", VERSION)),
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, FLUSH_MS).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
    },
  };
}

function exporterFor(environment: NodeJS.ProcessEnv, log: Logger | undefined): string {
  if (environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return "none";
  const isPointed = ENDPOINTS.some((name) => (environment[name] ?? "") !== "");
  const asked = environment["OTEL_TRACES_EXPORTER"]?.trim() || (isPointed ? "otlp" : "none");
  if (EXPORTERS.includes(asked)) return asked;
  log?.("warn", "no spans are sent: OTEL_TRACES_EXPORTER is none of otlp, console and none", {});
  return "none";
}
