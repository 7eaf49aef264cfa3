import type { JsonObject } from "@narthex/contracts";
import type { Bounds, Capability, Determinism, Effect, ResultType, SafetyTier } from "@narthex/kernel";
import type { EndpointPin } from "./endpoint-pin.ts";

/** What is declared of a tool that is a program of its own, whatever it is written in, or an endpoint. */
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
  /** What its results are labelled with, whatever they are. */
  readonly labels?: readonly string[];
}

/** A manifest, read and found sound. */
export type ToolManifest = ProgramManifest | EndpointManifest;

export interface EndpointManifest {
  readonly declaration: ProgramDeclaration;
  readonly endpoint: EndpointPin;
}

export interface ProgramManifest {
  readonly declaration: ProgramDeclaration;
  readonly command: readonly CommandWord[];
  /** Paths of every file of the program, relative to the manifest, each once. */
  readonly files: readonly string[];
  /** Names of secrets, by the variable in which the program finds them. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** A word as it is, or a file of the program by its path. */
export type CommandWord = { readonly word: string } | { readonly file: string };

/** A program is handed to its sandbox as bytes, anew for each call. */
export const PROGRAM_LIMITS = {
  files: 64,
  bytes: 64 * 1024 * 1024,
  words: 64,
  wordLength: 4096,
  secrets: 16,
} as const;
