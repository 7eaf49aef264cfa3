export { createHttpTool, type HttpToolDeclaration } from "./create-http-tool.ts";
export type { EndpointKey, HttpEndpoint } from "./http-endpoint.ts";
