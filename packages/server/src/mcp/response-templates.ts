/** What the SDK puts around the result of a tool call is all but these. */
const RESULT_KEYS: ReadonlySet<string> = new Set(["content", "structuredContent", "isError"]);
const MAX_TEMPLATES = 8;
/** SECURITY: clients choose what their messages have in common, and it is kept. */
const MAX_KIND = 4096;

/** Puts around a result what the protocol asks for. */
export type ResponseTemplate = (id: string | number, result: object) => string;

/**
 * What the SDK did with calls that it took, by what of their messages is not the call's own. A later call that differs in
 * nothing but id, tool and arguments passes the same checks, and its answer gets the same frame: it needs the SDK no more.
 */
export class ResponseTemplates {
  readonly #frames = new Map<string, ResponseTemplate>();

  /** That the SDK took such a call and answered with this. */
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

  /** What clients are, and may do, was said anew. */
  forget(): void {
    this.#frames.clear();
  }
}
