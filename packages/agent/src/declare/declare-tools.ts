import { isJsonObject, type JsonValue } from "@narthex/contracts";
import type { ToolDeclaration } from "@narthex/kernel";
import { boundParameters } from "./bound-parameters.ts";
import type { FunctionDecl } from "./function-decl.ts";
import { withNotes } from "./note-keyword.ts";
import { toRootObject, WRAPPED_FIELD } from "./root-object.ts";
import { createWireNames } from "./wire-names.ts";

/** The tools that a model is told about, and the way back from what it calls. */
export interface DeclaredTools {
  readonly decls: readonly FunctionDecl[];
  /** Undefined for a name that was not shown. */
  find(wireName: string): DeclaredTool | undefined;
}

export interface DeclaredTool {
  readonly declaration: DeclarationPart;
  readonly decl: FunctionDecl;
  /** The tool's input is one field of the arguments. */
  readonly isWrapped: boolean;
  /** The tool's own input, from the arguments that a model gave. Undefined if they are not in the form it was shown. */
  toInput(given: JsonValue): JsonValue | undefined;
}

export type DeclarationPart = Pick<ToolDeclaration, "name" | "description" | "inputSchema">;

/** The neutral declarations of some tools. Every provider's form derives from them. */
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
