const OPEN = 0x7b;
const CLOSE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Splits a text that contains several JSON objects in a row: models that mean two calls sometimes write both into one.
 * Any other text is returned whole.
 *
 * SECURITY: an object equal to the one before it is dropped. A chunk that was sent twice looks the same, and its call
 * must not be executed twice.
 */
export function splitConcatenatedObjects(text: string, maxObjects: number): readonly string[] {
  const objects: string[] = [];
  for (let at = skipBetween(text, 0); at < text.length; at = skipBetween(text, at)) {
    const end = endOfObject(text, at);
    if (end === undefined || objects.length > maxObjects) return [text];
    objects.push(text.slice(at, end));
    at = end;
  }
  const [only, second] = objects;
  if (only === undefined || second === undefined) return [text];
  return objects.filter((object, index) => index === 0 || object !== objects[index - 1]);
}

function skipBetween(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\r\n,;".includes(text.charAt(at))) at++;
  return at;
}

/** The index after the object that begins at `start`; undefined if no object begins there or it does not end. */
function endOfObject(text: string, start: number): number | undefined {
  if (text.charCodeAt(start) !== OPEN) return undefined;
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      at = endOfString(text, at);
    } else if (unit === OPEN) {
      depth++;
    } else if (unit === CLOSE && --depth === 0) {
      return at + 1;
    }
  }
  return undefined;
}

/** The index of the quote that ends a string. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
