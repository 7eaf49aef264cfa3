import type { HttpDispatch, HttpDispatchOptions } from "./http-dispatch.ts";

/**
 * Answers requests by code that the first one loads: most kernels inside another program are never asked.
 *
 * SECURITY: a request that waits for it is one of the door's exchanges already, so limits, time-outs and closing hold, and
 * its body stays unread.
 */
export function createLazyDispatch(options: HttpDispatchOptions): HttpDispatch {
  let dispatch: HttpDispatch | undefined;
  let loading: Promise<HttpDispatch> | undefined;

  async function load(): Promise<HttpDispatch> {
    const { createHttpDispatch } = await import("./http-dispatch.ts");
    dispatch = createHttpDispatch(options);
    return dispatch;
  }

  return (request, response, exchange) => {
    if (dispatch !== undefined) {
      dispatch(request, response, exchange);
      return;
    }
    loading ??= load();
    loading
      .then((loaded) => {
        if (!exchange.signal.aborted) loaded(request, response, exchange);
      })
      .catch(() => response.destroy());
  };
}
