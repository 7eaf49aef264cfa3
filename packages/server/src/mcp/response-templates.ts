/** Keys of the result itself; every other key is added by the SDK. */
const RESULT_KEYS: ReadonlySet<string> = new Set(["content", "structuredContent", "isError"]);
const MAX_TEMPLATES = 8;
/** SECURITY: the client controls the part that its messages share, and it is kept. */
const MAX_KIND = 4096;

/** Wraps a result as the protocol requires. */
export type ResponseTemplate = (id: string | number, result: object) => string;

/**
 * Keeps what the SDK added to responses of accepted calls, by the part of their messages that is not specific to the
 * call. A later call that differs only in id, tool and arguments would pass the same checks and get the same wrapper,
 * so it no longer needs the SDK.
 */
export class ResponseTemplates {
  readonly #frames = new Map<string, ResponseTemplate>();

  /** Records that the SDK accepted such a call and returned this result. */
  learn(kind: string, result: object): void {
    if (kind.length > MAX_KIND) return;
    const frame = Object.fromEntries(Object.entries(result).filter(([key]) => !RESULT_KEYS.has(key)));
    const [oldest] = this.#frames.keys();
    if (this.#frames.size >= MAX_TEMPLATES && oldest !== undefined) this.#frames.delete(oldest);
    this.#frames.set(kind, (id, own) => JSON.stringify({ result: { ...own, ...frame }, jsonrpc: "2.0", id }));
  }

  find(kind: string): ResponseTemplate | undefined {
    return this.#frames.get(kind);
  }

  /** Called when a client has sent its abilities again. */
  forget(): void {
    this.#frames.clear();
  }
}
