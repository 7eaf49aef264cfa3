/**
 * Converts web pages to text for a model.
 *
 * SECURITY: the input is hostile. It is parsed in a sandbox without network, files or a second process, with limits on
 * time and memory; a failure there fails only one call.
 */
export interface PageReader {
  /** Throws NOT_TEXT if the page is not text, RESOURCE_EXCEEDED if it takes too much time or memory. */
  read(page: FetchedPage, signal: AbortSignal): Promise<PageText>;
}

export interface FetchedPage {
  readonly bytes: Uint8Array;
  /** The header as received, if there was one. */
  readonly contentType: string | undefined;
  /** Base URL to make links absolute. */
  readonly url: string;
  /** Whether to return the main content only, or the whole page. */
  readonly extent: "main" | "whole";
}

export interface PageText {
  readonly format: "markdown" | "json" | "text";
  readonly text: string;
  readonly title: string | undefined;
  /** The charset used to decode the page, by its WHATWG name. */
  readonly charset: string;
}
