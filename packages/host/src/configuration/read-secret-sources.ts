import { isMap, isScalar, isSeq, type YAMLMap } from "yaml";
import { isSecretName, type SecretSource } from "../secrets/secret-source.ts";
import { quote } from "./configuration-problems.ts";
import { joinPath } from "./nearest-key.ts";

export interface SecretReadingContext {
  add(at: unknown, field: string, rule: string, message: () => string): void;
  readonly secrets: Map<string, SecretSource>;
}

const MAX_SECRETS = 100;
const MAX_WORDS = 64;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;
const FILE = /^\/[^\0]{1,4095}$/u;
const WORD = /^[^\0]{1,4096}$/u;

/** Reads `secrets`: each name with exactly one source of its value. Problems never quote what is configured there. */
export function readSecretSources(map: YAMLMap.Parsed, path: string, { add, secrets }: SecretReadingContext): void {
  if (map.items.length > MAX_SECRETS)
    add(map, path, "max_items", () => `\`${path}\` has more than ${MAX_SECRETS} names`);
  const seen = new Set<string>();
  for (const { key, value } of map.items) {
    const name: unknown = isScalar(key) ? key.value : undefined;
    if (typeof name !== "string" || !isSecretName(name)) {
      add(key, path, "format", () => "a secret's name is 1 to 64 of a-z, 0-9 and _, beginning with a letter");
      continue;
    }
    const own = joinPath(path, name);
    if (seen.has(name)) add(key, own, "duplicate", () => `${quote(own)} is given twice; keep one`);
    seen.add(name);
    const source = isMap(value) ? readSource(value) : undefined;
    if (source !== undefined) secrets.set(name, source);
    else {
      add(
        value ?? key,
        own,
        "format",
        () => `\`${own}\` must be one of env: NAME, file: /PATH, command: [PROGRAM, WORD]`,
      );
    }
  }
}

function readSource(map: YAMLMap.Parsed): SecretSource | undefined {
  const [pair, ...others] = map.items;
  if (pair === undefined || others.length > 0 || !isScalar(pair.key)) return undefined;
  const { value } = pair;
  if (pair.key.value === "command") {
    const words = isSeq(value) ? value.items.map((item: unknown) => (isScalar(item) ? item.value : undefined)) : [];
    const texts = words.filter((word): word is string => typeof word === "string" && WORD.test(word));
    if (texts.length === 0 || texts.length > MAX_WORDS || texts.length < words.length) return undefined;
    return { command: texts };
  }
  const text: unknown = isScalar(value) ? value.value : undefined;
  if (typeof text !== "string") return undefined;
  if (pair.key.value === "env") return VARIABLE.test(text) ? { env: text } : undefined;
  return pair.key.value === "file" && FILE.test(text) ? { file: text } : undefined;
}
