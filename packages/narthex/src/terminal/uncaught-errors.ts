import { EXIT_TOOL_ERROR } from "./exit-code.ts";
import { visible, visibleLines } from "./visible.ts";

/**
 * Ends the process for an error that nothing catches with its message and code: Node would print the line of source it
 * was thrown from, which in a bundle is long, and the stack. NARTHEX_DEBUG prints the stack. Answers how to stop.
 */
export function watchUncaughtErrors(environment: NodeJS.ProcessEnv): () => void {
  const onError = (fault: unknown): void => {
    process.stderr.write(`${describeUncaught(fault, environment).join("\n")}\n`);
    process.exit(EXIT_TOOL_ERROR);
  };
  // A rejection that nothing handles comes here as well.
  process.on("uncaughtException", onError);
  return () => process.off("uncaughtException", onError);
}

function describeUncaught(fault: unknown, environment: NodeJS.ProcessEnv): string[] {
  const message = fault instanceof Error ? fault.message : String(fault);
  const code = fault instanceof Error && "code" in fault && typeof fault.code === "string" ? fault.code : "INTERNAL";
  const isDebug = (environment["NARTHEX_DEBUG"] ?? "") !== "";
  const stack = fault instanceof Error ? (fault.stack ?? "") : "";
  return [
    `error: ${visible(message.replace(/\s*\n[\s\S]*$/, ""))}`,
    `code:  ${visible(code)}`,
    ...(isDebug ? [visibleLines(stack)] : ["next:  run it again with NARTHEX_DEBUG=1 to see where it happened"]),
  ];
}
