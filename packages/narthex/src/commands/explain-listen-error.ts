import { isKernelError } from "@narthex/contracts";
import { CommandError } from "../terminal/command-error.ts";

export interface ListenSource {
  /** The address was given with --listen. */
  readonly isTyped: boolean;
  /** The configuration file that names the address otherwise. */
  readonly file: string;
}

/** Explains why the address cannot be listened on, with advice that names the place where it was configured. */
export function explainListenError(error: unknown, { isTyped, file }: ListenSource): unknown {
  if (!isKernelError(error)) return error;
  const place = isTyped
    ? "with `--listen 127.0.0.1:PORT`"
    : `with \`--listen 127.0.0.1:PORT\`, or as \`listen\` in ${file}`;
  const next =
    error.code === "HOME_BUSY"
      ? `name another port ${place}; port 0 takes a free one`
      : `name an address of this machine ${place}; from elsewhere it is reached through \`ssh -L PORT:127.0.0.1:PORT HOST\``;
  return new CommandError(error.code, error.message, { cause: error, next });
}
