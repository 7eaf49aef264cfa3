import { formatCount, formatDuration } from "../../packages/narthex/src/terminal/units.ts";

export interface ProgressOutput {
  readonly isTerminal: boolean;
  write(text: string): void;
}

export interface CampaignProgress {
  update(done: number): void;
  /** Takes the bar off the screen. */
  finish(): void;
}

const CELLS = 30;
const CLEAR_LINE = "\r\u001b[2K";
const REDRAW_EVERY_MS = 200;
const LINE_EVERY_MS = 10_000;

/** One line that is drawn anew on a terminal; elsewhere a line every ten seconds. */
export function createCampaignProgress(
  output: ProgressOutput,
  { name, unit, total, nowMs = () => performance.now() }: ProgressOptions,
): CampaignProgress {
  const startedMs = nowMs();
  let shownMs = startedMs;
  return {
    update(done) {
      const now = nowMs();
      if (now - shownMs < (output.isTerminal ? REDRAW_EVERY_MS : LINE_EVERY_MS)) return;
      shownMs = now;
      const line = describe({ name, unit, total, done, elapsedMs: now - startedMs });
      output.write(output.isTerminal ? `${CLEAR_LINE}${renderBar(done / total)} ${line}` : `${line}\n`);
    },
    finish() {
      if (output.isTerminal) output.write(CLEAR_LINE);
    },
  };
}

export interface ProgressOptions {
  readonly name: string;
  readonly unit: string;
  readonly total: number;
  readonly nowMs?: () => number;
}

interface ProgressState {
  readonly name: string;
  readonly unit: string;
  readonly total: number;
  readonly done: number;
  readonly elapsedMs: number;
}

function describe({ name, unit, total, done, elapsedMs }: ProgressState): string {
  const perSecond = Math.round(done / (elapsedMs / 1000));
  const left = done > 0 ? `, ${formatDuration((elapsedMs / done) * (total - done))} left` : "";
  return `${name}: ${formatCount(done)} of ${formatCount(total)} ${unit}, ${formatCount(perSecond)}/s${left}`;
}

function renderBar(share: number): string {
  const filled = Math.min(CELLS, Math.floor(share * CELLS));
  return "█".repeat(filled) + "░".repeat(CELLS - filled);
}
