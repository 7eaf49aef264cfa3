import type { ViewPart } from "@narthex/kernel";

/** Text views of the web tools' results for models. Each function takes the result of its tool. */

export interface FetchResult {
  readonly status: number;
  readonly headers: readonly (readonly string[])[];
  readonly final_url: string;
  readonly size: number;
  readonly body?: string | undefined;
  readonly body_hash?: string | undefined;
}

export function fetchedText({ status, headers, final_url: url, size, body, body_hash: hash }: FetchResult): ViewPart[] {
  const lines = headers.map(([name = "", value = ""]) => `${name}: ${value}`).join("\n");
  const text = `${status} ${url}\n${lines}\n\n`;
  const head = { text, size: Buffer.byteLength(text) };
  if (body !== undefined) return [head, { text: body, size }];
  return [head, `[the body has ${size} bytes; read it with result_read {"hash":"${hash ?? ""}"}]`];
}

export interface PageResult {
  readonly title: string | null;
  readonly content: string;
  readonly final_url: string;
}

export function pageText({ title, content, final_url: url }: PageResult): ViewPart[] {
  const about = title === null ? url : `${title}\n${url}`;
  return [`${about}\n\n`, { text: content, size: Buffer.byteLength(content) }];
}

export interface FoundPage {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export function foundText(pages: readonly FoundPage[]): ViewPart[] {
  if (pages.length === 0) return ["no results"];
  const text = pages.map(({ title, url, snippet }, at) => `${at + 1}. ${title}\n   ${url}\n   ${snippet}`).join("\n");
  return [{ text, size: Buffer.byteLength(text) }];
}
