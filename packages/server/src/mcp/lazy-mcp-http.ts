import type { McpHttp } from "./mcp-door.ts";
import type { McpHttpOptions } from "./mcp-http.ts";

/**
 * Serves MCP for every session of a kernel. Most kernels never get an MCP request, so the implementation is loaded with
 * the first one.
 */
export function createLazyMcpHttp(options: McpHttpOptions): McpHttp {
  let opening: Promise<McpHttp> | undefined;
  let isStopping = false;

  async function open(): Promise<McpHttp> {
    const { createMcpHttp } = await import("./mcp-http.ts");
    const opened = createMcpHttp(options);
    if (isStopping) opened.stop();
    return opened;
  }

  return {
    serve(request, response, signal) {
      opening ??= open();
      opening.then(
        (mcp) => mcp.serve(request, response, signal),
        () => response.destroy(),
      );
    },
    stop() {
      isStopping = true;
      opening?.then(
        (mcp) => mcp.stop(),
        () => undefined,
      );
    },
    async close() {
      isStopping = true;
      const opened = await opening?.catch(() => undefined);
      await opened?.close();
    },
  };
}
