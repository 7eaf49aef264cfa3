import { appendFileSync } from "node:fs";
import { createKernel, defineTool, openaiModel, openTranscriptFile, runAgent, type Transcript } from "narthex";
import OpenAI from "openai";

export interface AgentRunOptions {
  readonly home: string;
  readonly token: string;
  readonly transcript: string;
  /** What happened, in a file that outlives the process. */
  readonly notes: string;
  /** Of the model server. */
  readonly provider: string;
  /** Told of each place that the run comes to. */
  readonly reach: (place: string) => void;
}

const RULES = `
  @id("free") permit(principal, action in [Action::"look", Action::"effect"], resource);
  @id("asked") @approve("human") permit(principal, action == Action::"asked_effect", resource);
`;
const inputSchema = { type: "object", required: ["n"], properties: { n: { type: "integer" } } } as const;

/** Starts a kernel, has a model work on the session from where it stopped, and gives how that ended. */
export async function runTheAgent({ home, token, transcript: path, notes, provider, reach }: AgentRunOptions) {
  const note = (what: string): void => appendFileSync(notes, `${what}\n`);
  const look = defineTool({
    name: "look",
    description: "Looks.",
    inputSchema,
    resultType: "string",
    tier: "read_only",
    run: ({ n }) => `seen ${n}`,
  });
  const effects = ["effect", "asked_effect"].map((name) =>
    defineTool({
      name,
      description: "Has an effect that nobody can look up.",
      inputSchema,
      resultType: "string",
      effects: ["artifact"],
      capabilities: [{ kind: "artifact", names: [] }],
      tier: "side_effecting",
      run: ({ n }) => {
        note(`effect ${n}`);
        reach("in-tool");
        return `done ${n}`;
      },
    }),
  );
  const kernel = await createKernel({
    data: home,
    tools: [look, ...effects],
    policies: [{ name: "agent.cedar", text: RULES }],
    approver: {
      door: "test",
      ask() {
        note("asked");
        reach("asked");
        return Promise.resolve({ approved: true, approver: "ann" });
      },
    },
    observer: {
      stage({ stage, toolName }) {
        if (toolName?.endsWith("effect") === true) reach(stage);
      },
    },
  });
  const file = await openTranscriptFile(path);
  try {
    const session = await kernel.resumeSession(token);
    const client = new OpenAI({ apiKey: "none", baseURL: provider, maxRetries: 0 });
    return await runAgent({
      session,
      model: openaiModel(client, "model"),
      messages: [{ role: "user", text: "Do it." }],
      transcript: watched(file, reach),
      onEvent: ({ type }) => reach(type),
    });
  } finally {
    await file.close();
    await kernel.close();
  }
}

/** Tells before and after each entry. */
function watched(transcript: Transcript, reach: (place: string) => void): Transcript {
  return {
    read: () => transcript.read(),
    async append(entry) {
      reach(`before-${entry.type}`);
      await transcript.append(entry);
      reach(`after-${entry.type}`);
    },
  };
}
