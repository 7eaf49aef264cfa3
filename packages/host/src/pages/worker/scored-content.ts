import defuddle from "defuddle";
import { type PageDocument, type PageElement, parseDocument } from "./dom.ts";

/** As much of the library as is used; its declarations need a browser's. */
type DefuddleConstructor = new (
  document: PageDocument,
  options: { readonly url: string; readonly useAsync: false; readonly removeContentPatterns: false },
) => { parse(): { readonly content: string; readonly title: string } };

const Defuddle = defuddle as unknown as DefuddleConstructor;

/** By its patterns the library takes short lists at the end of an article for a blog's, and drops them. */
const OPTIONS = { useAsync: false, removeContentPatterns: false } as const;

/** The main content as the library finds it, which weighs up every part of the page. Changes the document. */
export function scoredContent(document: PageDocument, url: string): { content: PageElement; title: string } {
  const { content, title } = new Defuddle(document, { ...OPTIONS, url }).parse();
  return { content: parseDocument(content).body, title };
}
