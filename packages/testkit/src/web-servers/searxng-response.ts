/** A complete response of a SearXNG instance with `format=json`. */
export function searxngResponse(query: string, areEnginesDown: boolean) {
  const silent = [
    ["brave", "too many requests"],
    ["startpage", "CAPTCHA"],
  ];
  if (areEnginesDown) return { ...EMPTY, query, unresponsive_engines: silent };
  return { ...EMPTY, query, number_of_results: 0, results: RESULTS, suggestions: ["cedar policy language tutorial"] };
}

const EMPTY = {
  query: "",
  number_of_results: 0,
  results: [],
  answers: [],
  corrections: [],
  infoboxes: [],
  suggestions: [],
  unresponsive_engines: [],
};

const COMMON = { thumbnail: "", template: "default.html", img_src: "", priority: "", publishedDate: null };

const RESULTS = [
  {
    ...COMMON,
    url: "https://www.cedarpolicy.com/en",
    title: "Cedar Language",
    content:
      "Cedar is an open source language for writing authorization policies and\nmaking decisions based on those policies.",
    engine: "duckduckgo",
    parsed_url: ["https", "www.cedarpolicy.com", "/en", "", "", ""],
    engines: ["duckduckgo", "google"],
    positions: [1, 2],
    score: 3.0,
    category: "general",
  },
  {
    ...COMMON,
    url: "https://docs.cedarpolicy.com/policies/syntax-policy.html?x=1&y=2#grammar",
    title: "Basic policy construction in Cedar | Cedar Policy Language Reference Guide",
    content: "This topic describes the syntax of a policy: if a < b && c > d then …",
    engine: "google",
    parsed_url: ["https", "docs.cedarpolicy.com", "/policies/syntax-policy.html", "", "x=1&y=2", "grammar"],
    engines: ["google"],
    positions: [3],
    score: 0.3333333333333333,
    category: "general",
    publishedDate: "2026-02-11T00:00:00",
  },
  // A torrent engine returns such entries beside web pages.
  {
    ...COMMON,
    url: "magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a",
    title: "cedar-1.0.iso",
    content: "",
    engine: "torrentz",
    engines: ["torrentz"],
    positions: [4],
    score: 0.25,
    category: "files",
    seed: 12345678901234567890n.toString(),
  },
  {
    ...COMMON,
    url: "https://github.com/cedar-policy/cedar",
    title: "",
    engine: "github",
    engines: ["github"],
    positions: [5],
    score: 0.2,
    category: "it",
  },
];
