/** Schema of a path in a tool's input. */
export function pathSchema(description: string) {
  return { type: "string", minLength: 1, maxLength: 4096, description } as const;
}
