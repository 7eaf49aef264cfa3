/**
 * Prints JavaScript that creates an equal message: fields that are set become properties, defaults are on the
 * prototype, as in protobuf. Supports messages of strings, numbers, booleans, lists and other messages.
 */
export function messageLiteral(message: object): string {
  // One prototype for all messages of a type: with a prototype per message, the engine would treat each one as a
  // different type.
  const prototypes: string[] = [];
  const code = writeMessage(message, prototypes);
  return `((prototypes) => ${code})([${prototypes.join(", ")}])`;
}

function writeMessage(message: object, prototypes: string[]): string {
  const prototype = writeProperties((Object.getPrototypeOf(message) ?? {}) as object, prototypes);
  if (!prototypes.includes(prototype)) prototypes.push(prototype);
  const properties = writeProperties(message, prototypes);
  return `Object.assign(Object.create(prototypes[${prototypes.indexOf(prototype)}]), ${properties})`;
}

function writeProperties(properties: object, prototypes: string[]): string {
  const present = Object.entries(properties).filter(([, value]) => value !== undefined);
  return `{ ${present.map(([name, value]) => `${JSON.stringify(name)}: ${writeValue(value, prototypes)}`).join(", ")} }`;
}

function writeValue(value: unknown, prototypes: string[]): string {
  if (Array.isArray(value)) return `[${value.map((item) => writeValue(item, prototypes)).join(", ")}]`;
  if (typeof value === "object" && value !== null && "$typeName" in value) return writeMessage(value, prototypes);
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return JSON.stringify(value);
  throw new TypeError(`a value of this kind cannot be written as code: ${String(value)}`);
}
