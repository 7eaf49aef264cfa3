import type { HttpDispatch, HttpDispatchOptions } from "./http-dispatch.ts";

/**
 * Responds to requests with code that the first one loads: most kernels inside another program never get one.
 *
 * SECURITY: a request that waits for the code is already one of the door's exchanges, so limits, timeouts and closing
 * apply, and its body stays unread.
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
