import type { JsonObject } from "@narthex/contracts";
import type { Bounds, Capability, Determinism, Effect, ResultType, SafetyTier } from "@narthex/kernel";
import type { EndpointPin } from "./endpoint-pin.ts";

/** Declaration of a tool that is a separate program, in any language, or an endpoint. */
export interface ProgramDeclaration {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly inputSchema: JsonObject | boolean;
  readonly outputSchema: JsonObject | boolean | undefined;
  readonly resultType: ResultType;
  readonly effects: readonly Effect[];
  readonly determinism: Determinism;
  readonly tier: SafetyTier;
  readonly capabilities: readonly Capability[];
  readonly bounds: Partial<Bounds>;
  readonly price: number;
  /** Labels of all results of the tool. */
  readonly labels?: readonly string[];
}

/** A manifest that was parsed and validated. */
export type ToolManifest = ProgramManifest | EndpointManifest;

export interface EndpointManifest {
  readonly declaration: ProgramDeclaration;
  readonly endpoint: EndpointPin;
}

export interface ProgramManifest {
  readonly declaration: ProgramDeclaration;
  readonly command: readonly CommandWord[];
  /** Paths of all files of the program, relative to the manifest, without duplicates. */
  readonly files: readonly string[];
  /** Names of secrets by the environment variable that holds the value. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** A literal word, or a file of the program by its path. */
export type CommandWord = { readonly word: string } | { readonly file: string };

/** The program's files are copied into a new sandbox for each call, so their number and size are limited. */
export const PROGRAM_LIMITS = {
  files: 64,
  bytes: 64 * 1024 * 1024,
  words: 64,
  wordLength: 4096,
  secrets: 16,
} as const;
