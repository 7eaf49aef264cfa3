import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { Capability, PageReader, Tool } from "@narthex/kernel";
import { createTestKernel } from "@narthex/testkit";
import { createLoopbackGate } from "./loopback-gate.ts";

/** Servers on this machine only. */
const HOSTS = [{ host: "127.0.0.1" }];
const BOTH: readonly Capability[] = [
  { kind: "net_read", hosts: HOSTS },
  { kind: "net_write", hosts: HOSTS },
];

export interface WebSessionOptions {
  readonly tools: readonly Tool[];
  readonly secrets?: Readonly<Record<string, string>>;
  readonly pages?: PageReader;
  readonly capabilities?: readonly Capability[];
}

/** Summary of a call's outcome. */
export interface WebEnd {
  readonly value: JsonObject;
  readonly list: readonly JsonValue[];
  readonly code: string;
  readonly message: string;
  readonly fields: readonly string[];
  readonly retryAfterMs: number;
  readonly labels: readonly string[];
}

/** Opens a kernel session that may contact servers on this machine. */
export async function openWebSession(options: WebSessionOptions) {
  const { tools, secrets = {}, pages, capabilities = BOTH } = options;
  const { kernel, open } = await createTestKernel({ tools, egress: createLoopbackGate(secrets), pages });
  const session = await open({ lease: { capabilities } });
  return {
    kernel,
    session,
    close: () => kernel.close(),
    async call(tool: string, input: JsonValue, requestId?: string): Promise<WebEnd> {
      const { response, raw, metadata } = await session.call(tool, input, requestId === undefined ? {} : { requestId });
      const { result } = response;
      const error = result.case === "error" ? result.value : undefined;
      const denial = result.case === "denied" ? result.value : undefined;
      return {
        value: isJsonObject(raw as JsonValue) ? (raw as JsonObject) : {},
        list: Array.isArray(raw) ? raw : [],
        code: error?.errorCode ?? denial?.rationaleCode ?? "",
        message: error?.message ?? denial?.message ?? "",
        fields: error?.violations.map(({ field }) => field) ?? [],
        retryAfterMs: Number(error?.retryAfterMs ?? 0),
        labels: metadata.labels,
      };
    },
  };
}

export type WebSession = Awaited<ReturnType<typeof openWebSession>>;
