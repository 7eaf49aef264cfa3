export { httpFetch } from "./http-fetch.ts";
export type { WebSearchProvider } from "./search/search-provider.ts";
export { createWebSearch } from "./search/web-search.ts";
export { webFetch } from "./web-fetch.ts";
