/** A BLAKE3 hash as inputs name it. One spelling only, so that one call has one digest. */
export function contentHashSchema(description: string) {
  return {
    type: "string",
    pattern: "^[0-9a-f]{64}$",
    description: `${description} 64 lower-case hex digits.`,
  } as const;
}
