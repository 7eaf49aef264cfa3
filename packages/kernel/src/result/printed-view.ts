import { ContentPlace, toHex } from "@narthex/contracts";
import type { CollectedContent } from "./content-collector.ts";
import { headAndTail } from "./head-and-tail.ts";

/** Maximum size of the program output shown for a failed call: enough for the end of a test run, less than a result. */
const MAX_PRINTED_BYTES = 8 * 1024;

type PrintedContent = Omit<CollectedContent, "place"> & { readonly place?: ContentPlace };

/**
 * Output of a failed call's programs, in the order in which their streams ended, formatted like the view of a result.
 * SECURITY: created from stored content, so output that is withheld from the record is not shown here either.
 */
export function printedView(outputs: readonly PrintedContent[], maxBytes: number): string {
  const shown = outputs.filter(({ place, size }) => place !== ContentPlace.NONE && size > 0);
  const [only] = shown;
  if (only === undefined) return "";
  const parts = shown.map(({ digest, size, head, tail }) => {
    const isWhole = head.length === size;
    return {
      text: lenientText.decode(head.subarray(0, isWhole ? size : MAX_PRINTED_BYTES)),
      tail: isWhole ? undefined : lenientText.decode(tail?.subarray(-MAX_PRINTED_BYTES)),
      size,
      hash: toHex(digest),
    };
  });
  return headAndTail(parts, toHex(only.digest), Math.min(maxBytes, MAX_PRINTED_BYTES)).text;
}

const lenientText = new TextDecoder("utf-8", { ignoreBOM: true });
