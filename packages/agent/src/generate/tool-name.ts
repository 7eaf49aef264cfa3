/**
 * Converts a function's name: `readFile` becomes `read_file`, `fetchURL` becomes `fetch_url`; a name without capitals
 * stays unchanged.
 */
export function toolName(functionName: string): string {
  return functionName
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
}

/** Returns the preferred name, with a number if it is taken, and adds it to `taken`. */
export function chooseName(preferred: string, taken: Set<string>): string {
  let name = preferred;
  for (let number = 2; taken.has(name); number += 1) name = `${preferred}${number}`;
  taken.add(name);
  return name;
}
