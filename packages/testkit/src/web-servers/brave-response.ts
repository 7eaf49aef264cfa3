/** A complete response of the Brave Search API. Without results it has no `web`. */
export function braveResponse(query: string, count: number) {
  const found = RESULTS.slice(0, count);
  const answer = {
    query: {
      original: query,
      show_strict_warning: false,
      is_navigational: false,
      is_news_breaking: false,
      spellcheck_off: true,
      country: "us",
      bad_results: false,
      should_fallback: false,
      postal_code: "",
      city: "",
      header_country: "",
      more_results_available: true,
      state: "",
    },
    mixed: {
      type: "mixed",
      main: found.map((_, index) => ({ type: "web", index, all: false })),
      top: [],
      side: [],
    },
    type: "search",
  };
  return found.length === 0 ? answer : { ...answer, web: { type: "search", results: found, family_friendly: true } };
}

/** The response to a request that the API rejects. */
export function braveError(code: string, status: number) {
  return {
    type: "ErrorResponse",
    error: {
      id: "5d832250-9396-4f6e-b84a-2a1fe524cd7d",
      status,
      code,
      detail: DETAILS[code] ?? "Unable to validate request parameter(s)",
      meta: { component: "rate_limiter" },
    },
    time: 1_663_072_993,
  };
}

const DETAILS: Readonly<Record<string, string>> = {
  SUBSCRIPTION_TOKEN_INVALID: "The provided subscription token is invalid.",
  RATE_LIMITED: "Request rate limit exceeded for plan.",
};

const COMMON = {
  is_source_local: false,
  is_source_both: false,
  language: "en",
  family_friendly: true,
  type: "search_result",
  subtype: "generic",
  is_live: false,
};

const RESULTS = [
  {
    title: "Cedar Policy Language &amp; SDK",
    url: "https://www.cedarpolicy.com/",
    description:
      "<strong>Cedar</strong> is a language for defining permissions as policies; it&#x27;s checked with &lt;strong&gt; types&nbsp;&#8212; see <strong>Rust&#39;s</strong> crate",
    page_age: "2026-01-15T10:12:00",
    profile: {
      name: "Cedar Policy",
      url: "https://www.cedarpolicy.com/",
      long_name: "cedarpolicy.com",
      img: "https://imgs.search.brave.com/cedar.png",
    },
    meta_url: {
      scheme: "https",
      netloc: "cedarpolicy.com",
      hostname: "www.cedarpolicy.com",
      favicon: "https://imgs.search.brave.com/favicon.png",
      path: "",
    },
    age: "January 15, 2026",
    ...COMMON,
  },
  {
    title: "Policy syntax - <strong>Cedar</strong>",
    url: "https://docs.cedarpolicy.com/policies/syntax-policy.html",
    description: "permit(principal, action, resource) when { resource.owner == principal };",
    extra_snippets: ["A policy is a statement that declares which principals are explicitly permitted."],
    ...COMMON,
  },
  {
    title: "Not a page of the web",
    url: "javascript:alert(document.domain)",
    description: "<img src=x onerror=alert(1)>Click",
    ...COMMON,
  },
  {
    title: "Looks like another",
    url: "https://www.cedarpolicy.com@evil.example/",
    description: "The name before the sign is a user name.",
    ...COMMON,
  },
];
