import type { VerifierKey } from "./verifier-key.ts";

export interface KeyRotation {
  /** Undefined for the first key of a tree. */
  readonly previous: VerifierKey | undefined;
  readonly next: VerifierKey;
  /** Size of the last checkpoint that the previous key signed. */
  readonly treeSize: number;
}

const FIRST_LINE = "narthex/log-key/v1";

/** SPEC: docs/formats/log.md, "Announcements". Creates the text that both keys sign. */
export function keyAnnouncementText({ previous, next, treeSize }: KeyRotation): string {
  return `${FIRST_LINE}\n${previous?.text ?? "none"}\n${next.text}\n${treeSize}\n`;
}
