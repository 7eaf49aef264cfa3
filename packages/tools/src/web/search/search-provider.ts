import type { JsonValue } from "@narthex/contracts";
import type { OutgoingRequest } from "@narthex/kernel";

/** A configured search engine. */
export interface WebSearchProvider {
  /** The name that callers use. */
  readonly name: string;
  readonly kind: "searxng" | "brave";
  /** Without the path of the search endpoint: `https://api.search.brave.com`. */
  readonly baseUrl: string;
  /** Name of the secret with the API key. */
  readonly key?: string;
}

export interface SearchQuery {
  readonly query: string;
  readonly maxResults: number;
}

/** The API of one provider: how to build a request, and how to parse a response. */
export interface SearchEngine {
  request(query: SearchQuery): OutgoingRequest;
  /** The found pages, best first, unfiltered. Throws UPSTREAM_ERROR for an unexpected response. */
  read(answer: JsonValue): readonly FoundPage[];
}

/** A page as the provider describes it; its text is untrusted. */
export interface FoundPage {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}
