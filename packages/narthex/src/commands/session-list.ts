import type { SessionInfo } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { addHomeToAdvice } from "../terminal/add-home-to-advice.ts";
import { formatCount, formatTime } from "../terminal/units.ts";
import type { Command } from "./command.ts";
import { sessionToJson } from "./session-view.ts";

const DEFAULT_LIMIT = 100;

const COLUMNS: readonly Column<SessionInfo>[] = [
  { title: "SESSION", value: (session) => session.sessionId },
  { title: "STATE", narrow: "drop", value: (session) => session.state },
  { title: "AGENT", value: (session) => session.agent },
  { title: "CALLS", align: "right", narrow: "drop", value: (session) => formatCount(session.calls) },
  { title: "OPENED", narrow: "drop", value: (session) => formatTime(session.openedAtMs) },
  { title: "EXPIRES", narrow: "drop", value: (session) => formatTime(session.expiresAtMs) },
  { title: "WORKSPACE", narrow: "tail", value: (session) => session.workspace },
];

export const sessionListCommand: Command = {
  options: [
    { flags: "--all", description: "closed and expired ones too" },
    { flags: "--limit <n>", description: `at most this many (default: ${DEFAULT_LIMIT})` },
  ],
  examples: ["narthex session list --all"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const query = { all: options.flag("all"), limit: options.count("limit") ?? DEFAULT_LIMIT };
    const sessions = await withConnection(invocation, "session list", (kernel) => kernel.listSessions(query));
    if (terminal.json) terminal.printJson({ sessions: sessions.map(sessionToJson) });
    else if (sessions.length > 0) terminal.print(...renderTable(COLUMNS, sessions, terminal.columns));
    else
      terminal.note(
        addHomeToAdvice("no session is open; open one with `narthex session open --workspace DIR`", terminal),
      );
    return EXIT_OK;
  },
};
