import { isJsonObject, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import { readWebAddress } from "../web-address.ts";
import type { FoundPage } from "./search-provider.ts";

/** A type and not an interface: only types are assignable to JSON. */
export type SearchResult = { title: string; url: string; snippet: string };

const MAX_TITLE = 300;
const MAX_SNIPPET = 1000;
const MAX_URL = 2048;
/** Limit before cleaning a text; text beyond it is never shown. */
const MAX_READ = 10_000;

/** Parses the entries of a provider's list; skips entries without a URL. */
export function readPages(
  list: JsonValue | undefined,
  provider: string,
  read: (entry: JsonObject) => Partial<Record<keyof FoundPage, JsonValue | undefined>>,
): FoundPage[] {
  if (!Array.isArray(list)) throw unexpectedResponse(provider);
  return list.filter(isJsonObject).flatMap((entry) => {
    const { title, url, snippet } = read(entry);
    if (typeof url !== "string") return [];
    return [{ url, title: textOf(title), snippet: textOf(snippet) }];
  });
}

export function unexpectedResponse(provider: string): KernelError {
  return new KernelError("UPSTREAM_ERROR", `what \`${provider}\` answered is no list of results`);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value.slice(0, MAX_READ) : "";
}

/** The pages that callers get: only http and https URLs, within limits. */
export function toSearchResults(pages: readonly FoundPage[], maxResults: number): SearchResult[] {
  const shown: SearchResult[] = [];
  for (const { title, url, snippet } of pages) {
    if (shown.length >= maxResults) break;
    const address = url.length <= MAX_URL ? readWebAddress(url) : "is too long";
    if (typeof address === "string") continue;
    shown.push({
      title: oneLine(title, MAX_TITLE) || address.host,
      url: address.url,
      snippet: oneLine(snippet, MAX_SNIPPET),
    });
  }
  return shown;
}

function oneLine(text: string, limit: number): string {
  return text
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, limit)
    .toWellFormed();
}
