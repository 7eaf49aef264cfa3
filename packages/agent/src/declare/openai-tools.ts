import { KernelError } from "@narthex/contracts";
import type { FunctionDecl, ObjectSchema } from "./function-decl.ts";
import { isStrict } from "./is-strict.ts";

/** A tool in the format of OpenAI's chat completions. */
export interface OpenaiChatTool {
  readonly type: "function";
  readonly function: OpenaiFunction;
}

/** A tool in the format of OpenAI's responses API. */
export interface OpenaiResponsesTool extends OpenaiFunction {
  readonly type: "function";
}

export interface OpenaiFunction {
  readonly name: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
  readonly strict: boolean;
}

const MAX_TOOLS = 128;
const MAX_DESCRIPTION = 1024;

export function toOpenaiChatTools(decls: readonly FunctionDecl[]): OpenaiChatTool[] {
  return bounded(decls).map((decl) => ({ type: "function", function: toFunction(decl) }));
}

export function toOpenaiResponsesTools(decls: readonly FunctionDecl[]): OpenaiResponsesTool[] {
  return bounded(decls).map((decl) => ({ type: "function", ...toFunction(decl) }));
}

function toFunction({ name, description, parameters }: FunctionDecl): OpenaiFunction {
  const shown =
    description.length > MAX_DESCRIPTION ? `${description.slice(0, MAX_DESCRIPTION - 1).toWellFormed()}…` : description;
  return { name, description: shown, parameters: withProperties(parameters), strict: isStrict(parameters) };
}

/** OpenAI refuses an object schema without `properties`. */
function withProperties(parameters: ObjectSchema): ObjectSchema {
  return parameters["properties"] === undefined ? { ...parameters, properties: {} } : parameters;
}

function bounded(decls: readonly FunctionDecl[]): readonly FunctionDecl[] {
  if (decls.length <= MAX_TOOLS) return decls;
  throw new KernelError(
    "INVALID_DECLARATION",
    `OpenAI takes at most ${MAX_TOOLS} tools and these are ${decls.length}: open the session with a lease that names fewer`,
  );
}
