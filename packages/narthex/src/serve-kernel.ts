import type { serve as serveNow } from "@narthex/server";

/** Opens doors to a kernel. Their code is loaded only then: a program that calls tools itself needs none of it. */
export const serve: typeof serveNow = async (...given) => {
  const { serve: open } = await import("@narthex/server");
  return await open(...given);
};
