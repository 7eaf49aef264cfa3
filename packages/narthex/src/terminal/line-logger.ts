import type { Logger } from "@narthex/kernel";
import type { Terminal } from "./terminal.ts";
import { cutText, visible, visibleJson } from "./visible.ts";

const MAX_FIELD_CHARACTERS = 300;

/**
 * Logs to the error stream, one line per message; in JSON if the command prints JSON. Debug messages only on request.
 */
export function createLineLogger(terminal: Terminal, environment: NodeJS.ProcessEnv): Logger {
  const debug = (environment["NARTHEX_DEBUG"] ?? "") !== "";
  return (level, message, fields = {}) => {
    if (level === "debug" && !debug) return;
    const time = new Date().toISOString();
    if (terminal.json) {
      const plain = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, fieldText(value)]));
      terminal.note(visibleJson(JSON.stringify({ time, level, message, ...plain })));
      return;
    }
    const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${fieldText(value)}`);
    terminal.note(visible(`${time} ${level.padEnd(5)} ${message}${rest.join("")}`));
  };
}

function fieldText(value: unknown): string {
  if (value instanceof Error) return cutText(value.message, MAX_FIELD_CHARACTERS);
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return cutText(text, MAX_FIELD_CHARACTERS);
}
