/** What happens instead of what the suite expects. */
export type Verdict =
  /** The schema is not taken, so no value gets past it. */
  | "refused"
  /** A valid value is refused. */
  | "stricter";

export interface Difference {
  readonly reason: string;
  readonly verdict: Verdict;
  /** For refused schemas: the rule each of them breaks. */
  readonly rule?: string;
  /** By file of the suite: descriptions of groups, or of tests where single tests differ. */
  readonly cases: { readonly [file: string]: readonly string[] };
}

/** Every case of JSON Schema 2020-12's official suite that ends differently here, and why. */
export const SCHEMA_DIFFERENCES: readonly Difference[] = [
  {
    reason: "nothing is ever fetched, not even the standard's own schema: a reference stays inside its document",
    verdict: "refused",
    rule: "reference",
    cases: {
      "anchor.json": ["invalid anchors"],
      "defs.json": ["validate definition against metaschema"],
      "dynamicRef.json": [
        "strict-tree schema, guards against misspelled properties",
        "tests for implementation dynamic anchor and reference link",
        "$ref and $dynamicAnchor are independent of order - $defs first",
        "$ref and $dynamicAnchor are independent of order - $ref first",
      ],
      "id.json": [
        "Invalid use of fragments in location-independent $id",
        "Valid use of empty fragments in location-independent $id",
        "Unnormalized $ids are allowed but discouraged",
      ],
      "ref.json": ["remote ref, containing refs itself", "URN base URI with f-component"],
      "refRemote.json": [
        "remote ref",
        "fragment within remote ref",
        "anchor within remote ref",
        "ref within remote ref",
        "base URI change",
        "base URI change - change folder",
        "base URI change - change folder in subschema",
        "root ref in remote ref",
        "remote ref with ref to defs",
        "Location-independent identifier in remote ref",
        "retrieved nested refs resolve relative to their URI not $id",
        "remote HTTP ref with different $id",
        "remote HTTP ref with different URN $id",
        "remote HTTP ref with nested absolute ref",
      ],
      "optional/cross-draft.json": ["refs to historic drafts are processed as historic drafts"],
      "optional/ecmascript-regex.json": ["\\a is not an ECMA 262 control escape"],
    },
  },
  {
    reason:
      "what `$dynamicRef` means depends on the way to it, so what a tool accepts could not be read off its schema",
    verdict: "refused",
    rule: "format",
    cases: {
      "dynamicRef.json": [
        "A $dynamicRef to a $dynamicAnchor in the same schema resource behaves like a normal $ref to an $anchor",
        "A $dynamicRef to an $anchor in the same schema resource behaves like a normal $ref to an $anchor",
        "A $dynamicRef resolves to the first $dynamicAnchor still in scope that is encountered when the schema is evaluated",
        "A $dynamicRef without anchor in fragment behaves identical to $ref",
        "A $dynamicRef with intermediate scopes that don't include a matching $dynamicAnchor does not affect dynamic scope resolution",
        "An $anchor with the same name as a $dynamicAnchor is not used for dynamic scope resolution",
        "A $dynamicRef without a matching $dynamicAnchor in the same schema resource behaves like a normal $ref to $anchor",
        "A $dynamicRef with a non-matching $dynamicAnchor in the same schema resource behaves like a normal $ref to $anchor",
        "A $dynamicRef that initially resolves to a schema with a matching $dynamicAnchor resolves to the first $dynamicAnchor in the dynamic scope",
        "A $dynamicRef that initially resolves to a schema without a matching $dynamicAnchor behaves like a normal $ref to $anchor",
        "multiple dynamic paths to the $dynamicRef keyword",
        "after leaving a dynamic scope, it is not used by a $dynamicRef",
      ],
    },
  },
  {
    reason: "defaults are filled in, so one that its own schema forbids would make a valid call invalid",
    verdict: "refused",
    rule: "format",
    cases: {
      "default.json": [
        "invalid type for default",
        "invalid string value for default",
        "the default keyword does not do anything if the property is missing",
      ],
    },
  },
  {
    reason: "a dialect of its own changes what keywords mean, and its description would have to be fetched",
    verdict: "refused",
    rule: "one_of",
    cases: {
      "vocabulary.json": [
        "schema that uses custom metaschema with with no validation vocabulary",
        "ignore unrecognized optional vocabulary",
      ],
      "optional/format-assertion.json": [
        "schema that uses custom metaschema with format-assertion: false",
        "schema that uses custom metaschema with format-assertion: true",
      ],
    },
  },
  {
    reason: "2020-12 has no `dependencies`; ignoring it would accept what its author meant to forbid",
    verdict: "refused",
    rule: "format",
    cases: {
      "optional/dependencies-compatibility.json": [
        "single dependency",
        "empty dependents",
        "multiple dependents required",
        "dependencies with escaped characters",
        "single schema dependency",
        "boolean subschemas",
        "schema dependencies with escaped characters",
      ],
    },
  },
  {
    reason: "what an unknown keyword holds is no schema: it was not looked at as one",
    verdict: "refused",
    rule: "reference",
    cases: {
      "optional/refOfUnknownKeyword.json": [
        "reference of a root arbitrary keyword ",
        "reference of an arbitrary keyword of a sub-schema",
      ],
    },
  },
  {
    reason: "mail addresses with a quoted local part are read differently by different programs",
    verdict: "stricter",
    cases: {
      "optional/format/email.json": [
        "a quoted string with a space in the local part is valid",
        "a quoted string with a double dot in the local part is valid",
        "a quoted string with a @ in the local part is valid",
      ],
    },
  },
];

/** Formats of the standard that describe a value and do not constrain it. */
export const DESCRIBED_FORMATS: readonly string[] = [
  "idn-email",
  "idn-hostname",
  "iri",
  "iri-reference",
  "regex",
  "relative-json-pointer",
  "uri-template",
];
