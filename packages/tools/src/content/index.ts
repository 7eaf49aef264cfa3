export { resultRead } from "./result-read.ts";
