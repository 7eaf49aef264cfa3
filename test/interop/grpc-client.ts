import { blake3, canonicalJsonBytes } from "@narthex/contracts";
import { rmSync } from "node:fs";
import { compileProto } from "./compile-proto.ts";
import { type Python, startPython } from "./start-python.ts";

/** A ToolResponse in proto JSON. */
export interface Answer {
  readonly requestId: string;
  readonly success?: { readonly resultHash: string; readonly inlineResult?: string; readonly resultSize: string };
  readonly denied?: { readonly ruleId: string; readonly rationaleCode: string };
  readonly error?: { readonly errorCode: string; readonly violations?: readonly { field: string; rule: string }[] };
}

/** Starts a client made of Debian's grpcio and stubs compiled from `proto/`, and connects it. */
export async function startGrpcClient(address: string): Promise<Python> {
  const modules = compileProto();
  const python = startPython("grpc_client.py", modules);
  await python.ask({ do: "connect", address });
  return {
    ask: (question) => python.ask(question),
    async stop() {
      await python.ask({ do: "close" });
      await python.stop();
      rmSync(modules, { recursive: true });
    },
  };
}

/** A ToolRequest in proto JSON. */
export function toolRequest(token: string, requestId: string, tool: string, input: unknown): object {
  const text = Buffer.from(JSON.stringify(input)).toString("base64");
  return { requestId, sessionToken: token, call: { name: tool, input: text } };
}

/** The hash that a result has, as proto JSON shows it. */
export function resultHash(value: unknown): string {
  return Buffer.from(blake3(canonicalJsonBytes(value))).toString("base64");
}
