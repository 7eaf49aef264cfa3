import { isJsonObject, type JsonValue } from "@narthex/contracts";
import type { ToolDeclaration } from "@narthex/kernel";
import { boundParameters } from "./bound-parameters.ts";
import type { FunctionDecl } from "./function-decl.ts";
import { withNotes } from "./note-keyword.ts";
import { toRootObject, WRAPPED_FIELD } from "./root-object.ts";
import { createWireNames } from "./wire-names.ts";

/** The tools as declared to a model, and the lookup of a tool that the model calls. */
export interface DeclaredTools {
  readonly decls: readonly FunctionDecl[];
  /** Undefined for a name that the model was not shown. */
  find(wireName: string): DeclaredTool | undefined;
}

export interface DeclaredTool {
  readonly declaration: DeclarationPart;
  readonly decl: FunctionDecl;
  /** Whether the tool's input is one field of the arguments. */
  readonly isWrapped: boolean;
  /** Extracts the tool's input from the model's arguments. Undefined if they do not have the declared form. */
  toInput(given: JsonValue): JsonValue | undefined;
}

export type DeclarationPart = Pick<ToolDeclaration, "name" | "description" | "inputSchema">;

/** Creates provider-neutral declarations. Every provider's format derives from them. */
export function declareTools(declarations: readonly DeclarationPart[]): DeclaredTools {
  const names = createWireNames(declarations.map(({ name }) => name));
  const tools = new Map(
    declarations.map((declaration) => [declaration.name, declareTool(declaration, names.toWire(declaration.name))]),
  );
  return {
    decls: [...tools.values()].map(({ decl }) => decl),
    find(wireName) {
      const name = names.fromWire(wireName);
      return name === undefined ? undefined : tools.get(name);
    },
  };
}

function declareTool(declaration: DeclarationPart, name: string): DeclaredTool {
  const root = toRootObject(declaration.inputSchema);
  const bound = boundParameters(root.parameters);
  const description = withNotes(declaration.description, [...root.notes, ...bound.notes]);
  return {
    declaration,
    decl: { name, description, parameters: bound.parameters },
    isWrapped: root.isWrapped,
    toInput(given) {
      if (!root.isWrapped) return given;
      return isJsonObject(given) && Object.hasOwn(given, WRAPPED_FIELD) ? given[WRAPPED_FIELD] : undefined;
    },
  };
}
