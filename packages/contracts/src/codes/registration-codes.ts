import type { CodeFacts } from "./code-facts.ts";

export type RegistrationCode = "ALREADY_REGISTERED" | "INVALID_DECLARATION";

/** Why the registration of a tool was rejected. */
export const REGISTRATION_CODES: ReadonlyMap<RegistrationCode, CodeFacts> = new Map<RegistrationCode, CodeFacts>([
  [
    "ALREADY_REGISTERED",
    {
      retryable: false,
      meaning: "a tool of this name and version is registered already",
      next: "give the new definition a higher version; `narthex tools list` shows what is registered",
    },
  ],
  [
    "INVALID_DECLARATION",
    {
      retryable: false,
      meaning: "the tool's declaration contradicts itself or lacks something",
      next: "correct every named field of the declaration and register it again",
    },
  ],
]);
