import type { MessageBounds } from "../../files/worker/worker-message.ts";

/** Header of a request to a worker; the page's bytes are the payload. */
export interface PageRequest {
  readonly url: string;
  readonly contentType: string | undefined;
  readonly extent: "main" | "whole";
}

/** Header of a worker's response; the text is the payload. */
export type PageReply =
  | { readonly type: "ready" }
  | {
      readonly type: "text";
      readonly format: PageFormat;
      readonly title?: string | undefined;
      readonly charset: string;
    }
  | { readonly type: "failed"; readonly reason: PageFault };

export const PAGE_FORMATS = ["markdown", "json", "text"] as const;
export type PageFormat = (typeof PAGE_FORMATS)[number];

/** `depth`: too deeply nested. `length`: the text is too long. `fault`: any other failure. */
export const PAGE_FAULTS = ["not-text", "depth", "length", "fault"] as const;
export type PageFault = (typeof PAGE_FAULTS)[number];

const MB = 1024 * 1024;
export const MAX_PAGE_BYTES = 10 * MB;
/** A page in another encoding can grow when it becomes UTF-8. */
export const MAX_TEXT_BYTES = 16 * MB;
export const MAX_TITLE_LENGTH = 1000;

export const PAGE_REQUEST_BOUNDS: MessageBounds = { headerBytes: 512 * 1024, payloadBytes: MAX_PAGE_BYTES };
/** SECURITY: limits on messages from a worker, which a page may have taken over. */
export const PAGE_REPLY_BOUNDS: MessageBounds = { headerBytes: 16 * 1024, payloadBytes: MAX_TEXT_BYTES };
