import { keywordOf } from "./keyword-of.ts";
import { printable } from "./printable.ts";
import type { Problems } from "./problems.ts";
import type { SchemaDocument, Subschema } from "./schema-document.ts";

/** The target of each `$ref`, by the location of the subschema that contains the reference. */
export type References = ReadonlyMap<string, Subschema>;

const ANCHOR = /^[A-Za-z_][-A-Za-z0-9._]*$/;

/**
 * Resolves every `$ref` inside the document.
 *
 * SECURITY: nothing is ever fetched. A reference that leaves the document is a problem, not a request.
 */
export function resolveReferences(document: SchemaDocument, problems: Problems): References {
  const index = indexDocument(document, problems);
  const references = new Map<string, Subschema>();
  for (const subschema of document.subschemas.values()) {
    const reference = textOf(subschema, "$ref");
    if (reference === undefined) continue;
    const target = find(reference, subschema.base, index, document);
    if (target !== undefined) references.set(subschema.location, target);
    else problems.add(`${subschema.location}/$ref`, "reference", explain(reference, subschema.base, index));
  }
  return references;
}

interface Index {
  /** By absolute URI without fragment. */
  readonly resources: ReadonlyMap<string, Subschema>;
  /** By absolute URI with the anchor as its fragment. */
  readonly anchors: ReadonlyMap<string, Subschema>;
}

function indexDocument(document: SchemaDocument, problems: Problems): Index {
  const resources = new Map<string, Subschema>([[document.root.base, document.root]]);
  const anchors = new Map<string, Subschema>();
  for (const subschema of document.subschemas.values()) {
    if (textOf(subschema, "$id") !== undefined && subschema !== document.root) {
      if (resources.has(subschema.base)) problems.add(`${subschema.location}/$id`, "duplicate", "this `$id` is taken");
      resources.set(subschema.base, subschema);
    }
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const anchor = textOf(subschema, keyword);
      if (anchor === undefined) continue;
      const uri = `${subschema.base}#${anchor}`;
      if (!ANCHOR.test(anchor)) problems.add(`${subschema.location}/${keyword}`, "format", "not the form of an anchor");
      if (anchors.has(uri)) problems.add(`${subschema.location}/${keyword}`, "duplicate", "this anchor is taken");
      anchors.set(uri, subschema);
    }
  }
  return { resources, anchors };
}

function find(reference: string, base: string, index: Index, document: SchemaDocument): Subschema | undefined {
  const uri = URL.parse(reference, base);
  if (uri === null) return undefined;
  const fragment = decodeFragment(uri.hash);
  uri.hash = "";
  const resource = index.resources.get(uri.href);
  if (resource === undefined || fragment === undefined) return undefined;
  if (fragment === "") return resource;
  if (fragment.startsWith("/")) return document.subschemas.get(resource.location + fragment);
  return index.anchors.get(`${resource.base}#${fragment}`);
}

function explain(reference: string, base: string, index: Index): string {
  const uri = URL.parse(reference, base);
  const shown = printable(reference);
  if (uri === null) return `\`${shown}\` is not a URI reference`;
  uri.hash = "";
  return index.resources.has(uri.href)
    ? `\`${shown}\` names no subschema of this schema`
    : `\`${shown}\` leaves this schema, and nothing is fetched: put what it means into \`$defs\``;
}

function decodeFragment(hash: string): string | undefined {
  try {
    return decodeURIComponent(hash.startsWith("#") ? hash.slice(1) : hash);
  } catch {
    return undefined;
  }
}

function textOf(subschema: Subschema, keyword: string): string | undefined {
  const value = keywordOf(subschema, keyword);
  return typeof value === "string" ? value : undefined;
}
