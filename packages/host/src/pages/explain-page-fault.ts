import { KernelError } from "@narthex/contracts";
import { MAX_TEXT_BYTES, type PageFault } from "./worker/messages.ts";

/** SECURITY: text that a worker wrote is never shown. */
export function explainFault(reason: PageFault): KernelError {
  switch (reason) {
    case "not-text":
      return new KernelError("NOT_TEXT", "the answer is not text; fetch it as bytes");
    case "depth":
      return new KernelError("RESOURCE_EXCEEDED", "the page is nested too deeply to be read");
    case "length":
      return new KernelError("RESOURCE_EXCEEDED", `the page's text is longer than ${MAX_TEXT_BYTES} bytes`);
    case "fault":
      return new KernelError("SANDBOX_ERROR", "the page could not be read");
  }
}
