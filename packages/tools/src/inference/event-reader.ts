import { KernelError } from "@narthex/contracts";

const MAX_EVENT_CHARACTERS = 4 * 1024 * 1024;
/** Large enough for the body of an error. */
const MAX_STRAY_CHARACTERS = 16 * 1024;
const LINE_END = /\r\n|\n|\r/;

/**
 * Parses the data of server-sent events (WHATWG HTML, section 9.2) incrementally, however the bytes are split. Ignores
 * names and ids of events: in each of the formats, the data itself says what it is.
 *
 * SECURITY: the bytes are untrusted. An endless event and invalid UTF-8 are refused. No byte is scanned twice, so that
 * many small chunks cost no more than one large one.
 */
export class EventReader {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #line = "";
  #data: string[] = [];
  #size = 0;
  /** The last chunk ended with a CR; its LF may follow in the next one. */
  #isAfterReturn = false;
  #stray = "";

  /** Lines that belong to no event. An error may arrive as a plain body instead of events. */
  get stray(): string {
    return this.#stray;
  }

  /** Returns the data of the events that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    return this.#take(this.#decode(bytes));
  }

  /** Returns the last event even if its terminating empty line is missing. The caller checks that it is complete. */
  end(): string[] {
    return [...this.#take(this.#decode(undefined)), ...this.#take("\n\n")];
  }

  #take(text: string): string[] {
    if (text === "") return [];
    const lines = (this.#isAfterReturn && text.startsWith("\n") ? text.slice(1) : text).split(LINE_END);
    this.#isAfterReturn = text.endsWith("\r");
    const rest = lines.pop() ?? "";
    const events = lines.flatMap((line) => {
      const whole = this.#line + line;
      this.#line = "";
      return this.#readLine(whole);
    });
    this.#line += rest;
    this.#bound();
    return events;
  }

  #readLine(line: string): string[] {
    if (line === "") return this.#finishEvent();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    if (name === "data") this.#addData(colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, ""));
    else if (!FIELDS.has(name)) this.#stray = `${this.#stray}${line}\n`.slice(0, MAX_STRAY_CHARACTERS);
    return [];
  }

  #addData(value: string): void {
    this.#data.push(value);
    this.#size += value.length + 1;
    this.#bound();
  }

  #finishEvent(): string[] {
    const data = this.#data.join("\n");
    this.#data = [];
    this.#size = 0;
    return data === "" ? [] : [data];
  }

  #bound(): void {
    if (this.#line.length + this.#size <= MAX_EVENT_CHARACTERS) return;
    throw new KernelError(
      "UPSTREAM_ERROR",
      `the provider sent one event of more than ${MAX_EVENT_CHARACTERS} characters`,
    );
  }

  #decode(bytes: Uint8Array | undefined): string {
    try {
      return bytes === undefined ? this.#decoder.decode() : this.#decoder.decode(bytes, { stream: true });
    } catch {
      throw new KernelError("UPSTREAM_ERROR", "the provider's stream is not UTF-8, or was cut inside a character");
    }
  }
}

/** Known fields. A comment is a field without a name. */
const FIELDS: ReadonlySet<string> = new Set(["", "event", "id", "retry"]);
