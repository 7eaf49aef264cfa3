import { isJsonObject, KernelError } from "@narthex/contracts";
import { readPages, unexpectedResponse } from "./found-pages.ts";
import type { SearchEngine, WebSearchProvider } from "./search-provider.ts";

/** A SearXNG instance. Its `formats` must include `json`; a key is for an instance behind a proxy that requires one. */
export function createSearxng({ name, baseUrl, key }: WebSearchProvider): SearchEngine {
  return {
    request({ query }) {
      const url = new URL(`${baseUrl.replace(/\/+$/, "")}/search`);
      url.searchParams.set("q", query);
      url.searchParams.set("format", "json");
      const authorization = key === undefined ? [] : [["authorization", { secret: key, prefix: "Bearer " }] as const];
      return { method: "GET", url: url.href, headers: [["accept", "application/json"], ...authorization] };
    },
    read(answer) {
      if (!isJsonObject(answer)) throw unexpectedResponse(name);
      const pages = readPages(answer["results"], name, ({ title, url, content }) => ({ title, url, snippet: content }));
      const { unresponsive_engines: silent } = answer;
      // It responds with 200 even when every engine behind it has refused the query.
      if (pages.length === 0 && Array.isArray(silent) && silent.length > 0) {
        throw new KernelError(
          "UPSTREAM_ERROR",
          `\`${name}\` found nothing, and ${silent.length} of its engines did not answer`,
        );
      }
      return pages;
    },
  };
}
