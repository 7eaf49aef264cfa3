export { hash } from "./hash.ts";
