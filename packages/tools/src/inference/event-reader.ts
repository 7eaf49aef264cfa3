import { KernelError } from "@narthex/contracts";

const MAX_EVENT_CHARACTERS = 4 * 1024 * 1024;
/** Enough for the body of an error. */
const MAX_STRAY_CHARACTERS = 16 * 1024;
const LINE_END = /\r\n|\n|\r/;

/**
 * Reads the data of server-sent events (WHATWG HTML, section 9.2) as their bytes come, however they are cut. Names and
 * ids of events are left out: each of the formats says in the data itself what it is.
 *
 * SECURITY: bytes of a stranger. An event that does not end, and bytes that are no UTF-8, are refused; nothing is
 * looked at twice, so that many small pieces cost no more than one.
 */
export class EventReader {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #line = "";
  #data: string[] = [];
  #size = 0;
  /** The last piece ended with a CR, whose LF may be yet to come. */
  #isAfterReturn = false;
  #stray = "";

  /** Lines that belong to no event. An error may come as a plain body where events were due. */
  get stray(): string {
    return this.#stray;
  }

  /** The data of the events that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    return this.#take(this.#decode(bytes));
  }

  /** What has come is an event even if the empty line after it has not: whether it is whole, its reader knows. */
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

/** A comment is a field without a name. */
const FIELDS: ReadonlySet<string> = new Set(["", "event", "id", "retry"]);
