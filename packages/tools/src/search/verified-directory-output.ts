import { KernelError } from "@narthex/contracts";

const MAX_PLACE_BYTES = 8192;

/** Removes the real directory from the beginning of a program's output, and throws unless it is the approved one. */
export class VerifiedDirectoryOutput {
  readonly #expected: string;
  readonly #rest: (chunk: Uint8Array) => void;
  #gathered: Buffer | undefined = Buffer.alloc(0);

  /** `directory` is relative to the workspace's root. `rest` receives everything after the directory. */
  constructor(directory: string, rest: (chunk: Uint8Array) => void) {
    this.#expected = directory === "." ? "/workspace" : `/workspace/${directory}`;
    this.#rest = rest;
  }

  take(chunk: Uint8Array): void {
    if (this.#gathered === undefined) {
      this.#rest(chunk);
      return;
    }
    const gathered = Buffer.concat([this.#gathered, chunk]);
    const end = gathered.indexOf(0);
    this.#gathered = gathered;
    if (end === -1 && gathered.length < MAX_PLACE_BYTES) return;
    if (gathered.subarray(0, Math.max(0, end)).toString() !== this.#expected) {
      throw new KernelError(
        "PATH_ESCAPE",
        "the directory became another one while it was opened; nothing was searched",
      );
    }
    this.#gathered = undefined;
    if (gathered.length > end + 1) this.#rest(gathered.subarray(end + 1));
  }
}
