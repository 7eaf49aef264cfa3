import type { Terminal } from "./terminal.ts";
import { formatCount, formatDuration } from "./units.ts";

export interface ProgressBar {
  update(done: number, total: number): void;
  /** Removes the bar from the screen. */
  finish(): void;
}

export interface ProgressBarOptions {
  /** Plural name of what is counted. */
  readonly label: string;
  readonly nowMs?: () => number;
}

const SHOW_AFTER_MS = 1000;
const REDRAW_EVERY_MS = 100;
const CELLS = 30;
const CLEAR_LINE = "\r\u001b[2K";

/** Shows a bar on the error stream, only on a terminal and only once the work has taken longer than a second. */
export function createProgressBar(terminal: Terminal, options: ProgressBarOptions): ProgressBar {
  const nowMs = options.nowMs ?? (() => performance.now());
  const startedMs = nowMs();
  let drawnMs = Number.NEGATIVE_INFINITY;
  let shown = false;
  return {
    update(done, total) {
      const now = nowMs();
      if (!terminal.errorIsTerminal || now - startedMs < SHOW_AFTER_MS || now - drawnMs < REDRAW_EVERY_MS) return;
      drawnMs = now;
      shown = true;
      terminal.writeError(CLEAR_LINE + renderBar({ done, total, elapsedMs: now - startedMs, label: options.label }));
    },
    finish() {
      if (shown) terminal.writeError(CLEAR_LINE);
      shown = false;
    },
  };
}

interface BarState {
  readonly done: number;
  readonly total: number;
  readonly elapsedMs: number;
  readonly label: string;
}

function renderBar({ done, total, elapsedMs, label }: BarState): string {
  const share = total > 0 ? Math.min(1, done / total) : 0;
  const filled = Math.round(share * CELLS);
  const bar = "█".repeat(filled) + "░".repeat(CELLS - filled);
  const left = share > 0 ? `, ${formatDuration((elapsedMs / share) * (1 - share))} left` : "";
  return `${bar} ${Math.floor(share * 100)}%  ${formatCount(done)} of ${formatCount(total)} ${label}${left}`;
}
