/** As an MCP server lists a tool of the usual size. Imports nothing: it runs in a sandbox that holds these files alone. */
export interface SmallTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, { readonly type: string; readonly description: string }>>;
    readonly required: string[];
  };
}

export function smallTools(count: number): SmallTool[] {
  return Array.from({ length: count }, (_, n) => ({
    name: `look_up_${n}`,
    description: `Looks up the entries of collection ${n} that match a query, the newest first, at most as many as asked for.`,
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "Words that an entry must have." },
        limit: { type: "integer", description: "How many entries to give at most." },
        since: { type: "string", description: "Entries before this date are left out, as YYYY-MM-DD." },
      },
      required: ["query"],
    },
  }));
}
