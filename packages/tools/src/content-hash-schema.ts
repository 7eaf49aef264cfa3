/** Schema of a BLAKE3 hash in tool inputs. Only one spelling is valid, so that equal calls have equal digests. */
export function contentHashSchema(description: string) {
  return {
    type: "string",
    pattern: "^[0-9a-f]{64}$",
    description: `${description} 64 lower-case hex digits.`,
  } as const;
}
