import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "@narthex/contracts";
import { readFileSync } from "node:fs";
import { codeCell, tableCell } from "./table-cell.ts";

const SCHEMA = new URL("../../packages/host/narthex.schema.json", import.meta.url);

const INTRODUCTION = `# Configuration

Every key of \`narthex.yaml\` in the kernel's home (\`~/.narthex\`). All keys are optional. \`narthex init\` writes the file with every key
explained at its default. Unknown keys are errors. This page is generated from the file's JSON Schema (\`npm run reference\`).

| key | type | default | meaning |
|---|---|---|---|`;

/** The reference of the configuration, from the schema that the kernel checks it with. */
export function writeConfigurationPage(): string {
  const schema = parseJson(readFileSync(SCHEMA));
  if (!isJsonObject(schema)) throw new Error("the schema of the configuration is not an object");
  return `${INTRODUCTION}\n${listKeys(schema, "").join("\n")}\n`;
}

function listKeys(schema: JsonObject, prefix: string): string[] {
  const properties = objectOf(schema["properties"]);
  return Object.entries(properties).flatMap(([name, value]) => {
    const key = `${prefix}${name}`;
    const property = objectOf(value);
    const below = [...listKeys(property, `${key}.`), ...listKeys(objectOf(property["items"]), `${key}[].`)];
    const named = objectOf(property["additionalProperties"]);
    const rows = [...below, ...listKeys(named, `${key}.NAME.`)];
    return [rowOf(key, property), ...rows];
  });
}

function rowOf(key: string, property: JsonObject): string {
  const { description = "", default: preset } = property;
  const meaning = tableCell(typeof description === "string" ? description : "");
  return `| \`${key}\` | ${typeOf(property)} | ${preset === undefined ? "" : shortDefault(preset)} | ${meaning} |`;
}

const MAX_DEFAULT = 60;

function shortDefault(preset: JsonValue): string {
  const text = JSON.stringify(preset);
  return text.length > MAX_DEFAULT ? "a list, see `narthex init`" : codeCell(text);
}

function typeOf({ type, enum: values, minimum, maximum }: JsonObject): string {
  if (Array.isArray(values))
    return values.map((value) => `\`${JSON.stringify(value).replaceAll('"', "")}\``).join(" or ");
  const name =
    typeof type === "string"
      ? type
      : Array.isArray(type)
        ? type
            .map((one) => JSON.stringify(one))
            .join(" or ")
            .replaceAll('"', "")
        : "";
  if (typeof minimum !== "number" || typeof maximum !== "number") return name;
  return `${name}, ${minimum} to ${maximum}`;
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
