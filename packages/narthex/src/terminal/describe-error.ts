import { CommandError } from "./command-error.ts";
import { EXIT_TOOL_ERROR, exitCodeOf } from "./exit-code.ts";

/** A failure in terms that a user or a script can act on. */
export interface ErrorDescription {
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly exitCode: number;
  readonly violations: readonly { readonly field: string; readonly rule: string; readonly message: string }[];
}

/** `command` is what was typed, such as `narthex session open`: its help is the default advice. */
export async function describeError(error: unknown, command: string): Promise<ErrorDescription> {
  const help = `run \`${command} --help\` to see how it is used`;
  const nextOf = async (code: string): Promise<string> => {
    const { findCode } = await import("./kernel-codes.ts");
    return findCode(code)?.next ?? help;
  };
  if (error instanceof CommandError) {
    const next = error.next ?? (error.code === "USAGE" ? help : await nextOf(error.code));
    return { code: error.code, message: error.message, next, exitCode: error.exitCode, violations: [] };
  }
  // Loaded only now: a command that fails before it needs the contracts should not pay for loading them.
  const { isKernelError } = await import("./kernel-codes.ts");
  if (isKernelError(error)) {
    const { code, message, violations } = error;
    return { code, message, next: await nextOf(code), exitCode: exitCodeOf(code), violations };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: "INTERNAL",
    message: message.replace(/\s*\n[\s\S]*$/, ""),
    next: "run it again with NARTHEX_DEBUG=1 to see where it happened",
    exitCode: EXIT_TOOL_ERROR,
    violations: [],
  };
}
