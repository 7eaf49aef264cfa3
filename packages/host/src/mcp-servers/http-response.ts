import { isJsonObject, type JsonValue, parseJson } from "@narthex/contracts";
import { type IncomingResponse, ownField } from "@narthex/kernel";

export function isSuccess({ status }: IncomingResponse): boolean {
  return status >= 200 && status < 300;
}

/** Returns the media type in lower case, without parameters. */
export function mediaType({ headers }: IncomingResponse): string {
  const given = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  return given.split(";", 1).join("").trim().toLowerCase();
}

export async function discardBody({ body }: IncomingResponse): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

/** Parses the code and message of a JSON-RPC error, whichever request id it has. */
export function parseRpcError(bytes: Uint8Array): { readonly code: number; readonly message: string } | undefined {
  let json: JsonValue;
  try {
    json = parseJson(bytes);
  } catch {
    return undefined;
  }
  const error = isJsonObject(json) ? ownField(json, "error") : undefined;
  if (error === undefined || !isJsonObject(error)) return undefined;
  const { code, message } = error;
  return typeof code === "number" && typeof message === "string" ? { code, message } : undefined;
}
