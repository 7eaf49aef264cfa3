const MS_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/** Parses `90s`, `30m`, `8h`, `2d`, `500ms`; a bare number is milliseconds. Returns undefined for anything else. */
export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d{1,15})(ms|s|m|h|d|)$/.exec(text);
  const factor = MS_PER_UNIT.get(match?.[2] ?? "?");
  if (match === null || factor === undefined) return undefined;
  const milliseconds = Number(match[1]) * factor;
  return Number.isSafeInteger(milliseconds) && milliseconds > 0 ? milliseconds : undefined;
}

/** Parses a whole number from 0 to 2^53 - 1; returns undefined for anything else. */
export function parseCount(text: string): number | undefined {
  if (!/^\d{1,16}$/.test(text)) return undefined;
  const count = Number(text);
  return Number.isSafeInteger(count) ? count : undefined;
}

/** Formats `1234567` as `1,234,567`. */
export function formatCount(count: number | bigint): string {
  return count.toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Formats `1 record`, `1,234 records`. */
export function formatCounted(count: number | bigint, noun: string): string {
  return `${formatCount(count)} ${noun}${Number(count) === 1 ? "" : "s"}`;
}

export function formatBytes(bytes: number | bigint): string {
  const size = Number(bytes);
  if (size < 1024) return `${size} B`;
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(1)} KB`;
  if (size < 1024 * 1024 * 1024) return `${(size / 1024 / 1024).toFixed(1)} MB`;
  return `${(size / 1024 / 1024 / 1024).toFixed(1)} GB`;
}

/** Formats a time in UTC, to the second: `2026-03-01 12:00:00Z`. */
export function formatTime(epochMs: number | bigint): string {
  const date = new Date(Number(epochMs));
  return Number.isNaN(date.getTime()) ? `${epochMs} ms` : `${date.toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** Formats the largest two units: `7 h 59 min`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
