export { fileSearch } from "./file-search.ts";
