/** Formats times and sizes for people. */

export function clockTime(ms) {
  return new Date(ms).toTimeString().slice(0, 8);
}

export function dayAndTime(ms) {
  return `${new Date(ms).toLocaleDateString()} ${clockTime(ms)}`;
}

export function duration(ms) {
  return ms < 10_000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`;
}

export function countdown(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** Returns the end of a session's id, which suffices to tell sessions apart. */
export function shortSession(id) {
  return id.length > 12 ? `…${id.slice(-6)}` : id;
}
