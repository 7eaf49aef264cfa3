/**
 * Turns what came from the web into text for a model.
 *
 * SECURITY: hostile input. It is parsed in a sandbox without network, files or a second process, with a bound on time
 * and memory; what fails there fails one call.
 */
export interface PageReader {
  /** Throws NOT_TEXT for what is no text, RESOURCE_EXCEEDED for what takes too long or too much. */
  read(page: FetchedPage, signal: AbortSignal): Promise<PageText>;
}

export interface FetchedPage {
  readonly bytes: Uint8Array;
  /** The header as it came, if there was one. */
  readonly contentType: string | undefined;
  /** Links are made absolute by it. */
  readonly url: string;
  /** The main content only, or the page as a whole. */
  readonly extent: "main" | "whole";
}

export interface PageText {
  readonly format: "markdown" | "json" | "text";
  readonly text: string;
  readonly title: string | undefined;
  /** The charset it was decoded by, as WHATWG names it. */
  readonly charset: string;
}
