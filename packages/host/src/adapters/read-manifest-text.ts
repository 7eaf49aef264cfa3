import { isKernelError, type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import { isAlias, isMap, isScalar, isSeq, type ParsedNode } from "yaml";
import { ConfigurationProblems, quote } from "../configuration/configuration-problems.ts";
import { parseYaml, type YamlFile } from "../configuration/parse-yaml.ts";

export const MAX_MANIFEST_BYTES = 1024 * 1024;

/** Parses the text of a manifest as JSON or YAML, depending on the file name. Throws INVALID_DECLARATION. */
export function readManifestText(bytes: Uint8Array, file: string): JsonValue {
  if (file.endsWith(".json")) return withFile(file, () => parseJson(bytes));
  const text = withFile(file, () => new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  const problems = new ConfigurationProblems(file);
  const yaml = parseYaml(text, problems);
  const value = yaml === undefined ? null : toJson(yaml.root, "", yaml, problems);
  try {
    problems.throwIfAny();
  } catch (fault) {
    const violations = isKernelError(fault) ? fault.violations : [];
    throw new KernelError("INVALID_DECLARATION", fault instanceof Error ? fault.message : "", { violations });
  }
  return value;
}

type Node = ParsedNode | null | undefined;

/** Accepts only the part of YAML that JSON has too. Everything else is a problem. */
function toJson(node: Node, path: string, file: YamlFile, problems: ConfigurationProblems): JsonValue {
  const refuse = (rule: string, message: string, at: unknown = node): null => {
    problems.add(() => ({
      line: file.lineOf(at),
      field: path,
      rule,
      message: `${quote(path || "the file")} ${message}`,
    }));
    return null;
  };
  if (node === null || node === undefined) return null;
  if (isAlias(node)) return refuse("malformed", "is an alias; write the value itself");
  if (isSeq(node)) return node.items.map((item, index) => toJson(item as Node, `${path}[${index}]`, file, problems));
  if (isMap(node)) {
    const entries = new Map<string, JsonValue>();
    for (const { key, value } of node.items) {
      if (!isScalar(key) || typeof key.value !== "string") refuse("malformed", "has a key that is no plain name", key);
      else {
        const own = path === "" ? key.value : `${path}.${key.value}`;
        if (entries.has(key.value)) refuse("duplicate", `has ${quote(key.value)} twice; keep one`, key);
        entries.set(key.value, toJson(value, own, file, problems));
      }
    }
    return Object.fromEntries(entries);
  }
  const { value } = node;
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  return refuse("format", "is no value that JSON has");
}

function withFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KernelError("INVALID_DECLARATION", `${quote(file, 300)} cannot be read: ${reason}`, { cause });
  }
}
