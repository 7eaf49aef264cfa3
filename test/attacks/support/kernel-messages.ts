import type { JsonValue } from "@narthex/contracts";

/** What the process that holds the kernel is told. */
export type KernelCommand = { readonly id: number } & (
  | { readonly kind: "open"; readonly workspace: string }
  | { readonly kind: "end"; readonly session: string }
  | {
      readonly kind: "call";
      readonly session: string;
      readonly tool: string;
      readonly input: JsonValue;
      readonly requestId?: string;
      readonly wantsOutput: boolean;
      readonly timeoutMs?: number;
    }
);

/** What it says: one last word for each command, and output as it comes. */
export type KernelAnswer = { readonly id: number } & (
  | { readonly kind: "ready" }
  | { readonly kind: "chunk"; readonly text: string }
  | { readonly kind: "opened"; readonly session: string }
  | { readonly kind: "ended" }
  | { readonly kind: "failed"; readonly code: string; readonly message: string }
  | ({ readonly kind: "answered" } & CallAnswer)
);

export interface CallAnswer {
  readonly status: "success" | "denied" | "error";
  /** Empty of a success. */
  readonly code: string;
  readonly message: string;
  readonly result: JsonValue;
}
