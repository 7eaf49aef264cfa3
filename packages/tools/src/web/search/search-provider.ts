import type { JsonValue } from "@narthex/contracts";
import type { OutgoingRequest } from "@narthex/kernel";

/** A search engine as it is configured. */
export interface WebSearchProvider {
  /** What callers name it by. */
  readonly name: string;
  readonly kind: "searxng" | "brave";
  /** Without the path of the search itself: `https://api.search.brave.com`. */
  readonly baseUrl: string;
  /** The name of the secret that is its key. */
  readonly key?: string;
}

export interface SearchQuery {
  readonly query: string;
  readonly maxResults: number;
}

/** What every provider knows: how it is asked, and what its answers mean. */
export interface SearchEngine {
  request(query: SearchQuery): OutgoingRequest;
  /** What it found, best first, as it says it. Throws UPSTREAM_ERROR for what is none of its answers. */
  read(answer: JsonValue): readonly FoundPage[];
}

/** Untrusted text of strangers. */
export interface FoundPage {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}
