import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { builtinTools } from "./builtin-tools.ts";

const SOURCES = globSync("**/*.ts", { cwd: import.meta.dirname }).filter(
  (name) => !/\.test\.ts$|(?:^|\/)testing\//.test(name),
);
/** Text alone: nothing of it touches the machine. */
const HARMLESS = new Set(["node:path"]);

/** What a tool's own code imports when it is loaded. What runs inside a sandbox imports there, when it runs. */
function importsOf(name: string): string[] {
  const text = readFileSync(`${import.meta.dirname}/${name}`, "utf8");
  return [...text.matchAll(/^(?:import|export) (?!type )[^;]*? from "([^"]+)"/gm)].map(([, from = ""]) => from);
}

test("no tool reaches the machine by itself: files, programs, mounts and the network are the kernel's to give", () => {
  assert.ok(SOURCES.length > 60, "the sources were found");
  for (const name of SOURCES) {
    for (const from of importsOf(name)) {
      const isOwn = from.startsWith(".") || from === "@narthex/contracts" || from === "@narthex/kernel";
      const isParser = !from.startsWith("node:") && !from.startsWith("@narthex/");
      assert.ok(isOwn || isParser || HARMLESS.has(from), `${name} imports ${from}`);
    }
  }
});

function propertiesOf(name: string): JsonObject {
  const schema = builtinTools().find((tool) => tool.name === name)?.inputSchema as JsonValue;
  assert.ok(isJsonObject(schema) && isJsonObject(schema["properties"]), name);
  return schema["properties"];
}

test("every path is held against one rule for paths, whichever tool takes it", () => {
  const rules = new Set<string>();
  for (const [tool, field] of [
    ["read_file", "path"],
    ["file_read", "path"],
    ["file_list", "path"],
    ["file_write", "path"],
    ["file_edit", "path"],
    ["file_delete", "path"],
    ["file_move", "source"],
    ["file_move", "destination"],
    ["vault_copyto", "source"],
    ["vault_copyto", "destination"],
    ["db_query", "database"],
  ] as const) {
    const schema = propertiesOf(tool)[field];
    assert.ok(isJsonObject(schema), `${tool}.${field}`);
    const { description, ...rule } = schema;
    assert.ok(typeof description === "string" && description !== "", `${tool}.${field}`);
    rules.add(JSON.stringify(rule));
  }
  assert.equal(rules.size, 1, [...rules].join(" "));
});

test("shell_exec takes a command, and a directory, a time, the network, variables and input if it is given them", () => {
  const schema = builtinTools().find(({ name }) => name === "shell_exec")?.inputSchema as JsonValue;
  assert.ok(isJsonObject(schema));
  assert.deepEqual(schema["required"], ["command"]);
  assert.equal(schema["additionalProperties"], false);
  const types = Object.entries(propertiesOf("shell_exec")).map(([name, field]) => [
    name,
    isJsonObject(field) && field["type"],
  ]);
  assert.deepEqual(Object.fromEntries(types), {
    command: "string",
    cwd: "string",
    env: "object",
    hosts: "array",
    network_access: "boolean",
    network_read_only: "boolean",
    stdin: "string",
    timeout_ms: "integer",
  });
});
