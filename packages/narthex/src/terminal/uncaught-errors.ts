import { EXIT_TOOL_ERROR } from "./exit-code.ts";
import { visible, visibleLines } from "./visible.ts";

/**
 * Prints message and code of an uncaught error and ends the process: Node would print the source line that threw it,
 * which in a bundle is long, and the stack. NARTHEX_DEBUG prints the stack. Returns a function that stops watching.
 */
export function watchUncaughtErrors(environment: NodeJS.ProcessEnv): () => void {
  const onError = (fault: unknown): void => {
    process.stderr.write(`${describeUncaught(fault, environment).join("\n")}\n`);
    process.exit(EXIT_TOOL_ERROR);
  };
  // Unhandled rejections arrive here as well.
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
