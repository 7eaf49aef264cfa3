import { blake3, canonicalJsonBytes, toHex } from "@narthex/contracts";
import { bindToPorts, type Bounds, defineTool, type Tool, type ToolDeclaration } from "@narthex/kernel";
import { hostScope, toHostPattern, rightFor } from "../web/web-address.ts";
import { callEndpoint } from "./call-endpoint.ts";
import { type HttpEndpoint, readEndpoint } from "./http-endpoint.ts";

/** Declaration of a tool behind an endpoint. Its effects and capabilities follow from the endpoint. */
export interface HttpToolDeclaration
  extends Pick<
    ToolDeclaration,
    | "name"
    | "version"
    | "description"
    | "inputSchema"
    | "outputSchema"
    | "resultType"
    | "determinism"
    | "tier"
    | "capabilities"
    | "price"
    | "labels"
  > {
  readonly bounds: Partial<Bounds>;
}

/**
 * Creates a tool that is called by a POST to its endpoint. Throws INVALID_DECLARATION for an invalid endpoint.
 *
 * SECURITY: the endpoint is part of the hash of the tool's program, so that an approval for one server does not apply
 * to another. A POST is `net_write`, whatever the server does with it: such a tool is never read_only.
 */
export function createHttpTool(declaration: HttpToolDeclaration, endpoint: HttpEndpoint): Tool {
  const { inputSchema, outputSchema, resultType, bounds, capabilities, labels } = declaration;
  const { name, version, description, determinism, tier, price } = declaration;
  const ready = readEndpoint(endpoint);
  const right = rightFor("net_write", ready.address);
  const tool = defineTool({
    name,
    version,
    description,
    determinism,
    tier,
    price,
    source: "http",
    isolation: "http",
    inputSchema: true,
    resultType,
    effects: ["net_write"],
    capabilities: [right, ...capabilities],
    bounds: { maxNetworkRequests: 3, maxNetworkBytes: 64 * 1024 * 1024, ...bounds },
    ...(labels && { labels }),
    needs: () => [right],
    approvalScope: () => hostScope("net_write", ready.address),
    run: (input, context) => callEndpoint(ready, `${name}@${version}`, input, context),
  });
  const hash = toHex(blake3(canonicalJsonBytes({ endpoint: describe(endpoint) })));
  return bindToPorts({
    ...tool,
    inputSchema,
    outputSchema,
    program: { hash },
    endpoints: [toHostPattern(ready.address)],
  });
}

function describe({ url, key, isIdempotent = false, operation }: HttpEndpoint) {
  return {
    url,
    is_idempotent: isIdempotent,
    ...(key && { key: { ...key } }),
    ...(operation && { operation: { ...operation, parameters: operation.parameters.map((one) => ({ ...one })) } }),
  };
}
