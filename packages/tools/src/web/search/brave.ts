import { isJsonObject } from "@narthex/contracts";
import { readPages, unexpectedResponse } from "./found-pages.ts";
import { plainSnippet } from "./plain-snippet.ts";
import type { SearchEngine, WebSearchProvider } from "./search-provider.ts";

/** The Brave Search API. It requires a key. */
export function createBrave({ name, baseUrl }: WebSearchProvider, key: string): SearchEngine {
  return {
    request({ query, maxResults }) {
      const url = new URL(`${baseUrl.replace(/\/+$/, "")}/res/v1/web/search`);
      url.searchParams.set("q", query);
      url.searchParams.set("count", String(maxResults));
      url.searchParams.set("result_filter", "web");
      url.searchParams.set("text_decorations", "false");
      return {
        method: "GET",
        url: url.href,
        headers: [
          ["accept", "application/json"],
          ["x-subscription-token", { secret: key }],
        ],
      };
    },
    read(answer) {
      if (!isJsonObject(answer)) throw unexpectedResponse(name);
      const { web, type } = answer;
      // A search without results has no list at all.
      if (web === undefined && type === "search") return [];
      const pages = readPages(isJsonObject(web) ? web["results"] : undefined, name, ({ title, url, description }) => ({
        title,
        url,
        snippet: description,
      }));
      return pages.map(({ title, url, snippet }) => ({
        url,
        title: plainSnippet(title),
        snippet: plainSnippet(snippet),
      }));
    },
  };
}
