import defuddle from "defuddle";
import { type PageDocument, type PageElement, parseDocument } from "./dom.ts";

/** The part of the library that is used here; its own type declarations need DOM types. */
type DefuddleConstructor = new (
  document: PageDocument,
  options: { readonly url: string; readonly useAsync: false; readonly removeContentPatterns: false },
) => { parse(): { readonly content: string; readonly title: string } };

const Defuddle = defuddle as unknown as DefuddleConstructor;

/**
 * Content patterns are off: they would drop short lists at the end of an article as if they were a blog's related
 * posts.
 */
const OPTIONS = { useAsync: false, removeContentPatterns: false } as const;

/** Finds the main content by the library's scoring of every part of the page. Modifies the document. */
export function scoredContent(document: PageDocument, url: string): { content: PageElement; title: string } {
  const { content, title } = new Defuddle(document, { ...OPTIONS, url }).parse();
  return { content: parseDocument(content).body, title };
}
