export { type Compiler, loadCompiler } from "./compiler.ts";
export { type GeneratedTools, generateTools } from "./generate-tools.ts";
export { GENERATED_MARK } from "./print-module.ts";
