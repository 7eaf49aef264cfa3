import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import type { JsonValue } from "@narthex/contracts";
import type { MemberEdit } from "./configuration-edit.ts";
import { applyTomlEdits } from "./toml-edit.ts";
import { revertTomlEdits } from "./revert-toml-edits.ts";

const member = (at: readonly string[], key: string, value: JsonValue, replaces = false): MemberEdit => ({
  kind: "member",
  at,
  key,
  value,
  mayReplace: () => replaces,
});

const EDITS = [
  member([], "web_search", "disabled", true),
  member(["features"], "shell_tool", false, true),
  member(["features"], "view_image", false, true),
  member(["mcp_servers"], "narthex", { command: "/n/node", args: ["a b", 'q"'], required: true }, true),
];

const ASKED = {
  web_search: "disabled",
  features: { shell_tool: false, view_image: false },
  mcp_servers: { narthex: { command: "/n/node", args: ["a b", 'q"'], required: true } },
};

/** Texts with all that a person may have written, in each of which the edits have a place. */
const TEXTS: readonly string[] = [
  "",
  "\n",
  "# only a comment",
  "# comment\n\n",
  'model = "o"',
  'model = "o" # why\n\n\n',
  "\ufeffmodel = 'o'\r\n\r\n[features]\r\nx = true\r\n",
  "# about features\n[features]\nshell_tool = true # mine\n",
  "[other]\n[features]",
  "[features] # empty\n\n[mcp_servers.other]\ncommand = 'x'\nargs = [ # list\n  'a', # one\n]\n",
  'features.x = true\n[mcp_servers]\n[mcp_servers.other]\ncommand = "x"\n',
  "[mcp_servers]\nother.command = 'x'\n  # the end",
  'text = """\n[features]\nshell_tool = 1 \\"""\n""""\nother = \'\'\'\n[mcp_servers.narthex]\'\'\'\n',
  '[mcp_servers.narthex]\ncommand = "/old/narthex"\nargs = ["mcp"]\n\n[profiles.x]\nmodel = "y"',
  'web_search = "live"\n[mcp_servers . "narthex"]\n[[skills.config]]\npath = "a"\n[[skills.config]]\npath = "b"\n',
  "[a]\nb = 1979-05-27 07:32:00\nc = {d = [1, 2], e = 'f'}\nd = 1e5\n\n# trailing\n",
];

/** Texts in which the table holds more than the edits ask for. */
const WITH_MORE: readonly string[] = [
  '[mcp_servers.narthex]\ncommand = "/n/node"\nargs = ["a b", \'q"\']\nrequired = true\nenv.NODE_OPTIONS = "--require /x.js"\n',
  '# kept\n[mcp_servers.narthex] # mine\ncommand = "x"\n\n[mcp_servers.narthex.env]\nNODE_OPTIONS = "x"\n\n[mcp_servers.other]\ncommand = "o" # other\n',
  '[mcp_servers.narthex.env]\r\nNODE_OPTIONS = "x"\r\n[mcp_servers.narthex]\r\ncommand = "x"\r\n\r\n[mcp_servers.other.env]\r\nA = "other"',
  '[mcp_servers]\nother.command = "o"\nnarthex.command = "x"\nnarthex.env.NODE_OPTIONS = "x"\nkept.command = "k"\n',
  'mcp_servers.narthex.cwd = "/x"\nmcp_servers.narthex."env" = { NODE_OPTIONS = "x" } # mine\n[other]\na = 1\n',
  '[mcp_servers.narthex]\ncommand = "x"\n[[mcp_servers.narthex.tools]]\na = 1\n[[mcp_servers.narthex.tools]]\na = 2',
];

describe("editing TOML", () => {
  it("adds the entries as another parser reads them, and keeps the rest", () => {
    const edited = TEXTS.map((text) => applyTomlEdits(text, EDITS).text);
    const before = readByPython(TEXTS);
    for (const [index, value] of readByPython(edited).entries()) {
      assert.deepEqual(value, merge(before[index], ASKED), edited[index]);
    }
  });

  it("removes its additions to the byte", () => {
    for (const text of TEXTS) {
      const { text: edited, applied } = applyTomlEdits(text, EDITS);
      assert.deepEqual(revertTomlEdits(edited, applied), { text, conflicts: [] }, edited);
      assert.deepEqual(applyTomlEdits(edited, EDITS), { text: edited, applied: [] });
    }
  });

  it("replaces a table with everything in and below it, if it contained more than requested", () => {
    for (const text of WITH_MORE) {
      const { text: edited, applied } = applyTomlEdits(text, EDITS);
      const [before, after] = readByPython([text, edited]).map((value) => value as Record<string, JsonValue>);
      const servers = (value: unknown) => (value as { mcp_servers: Record<string, JsonValue> }).mcp_servers;
      assert.deepEqual(servers(after), { ...servers(before), ...ASKED.mcp_servers }, edited);
      for (const line of text.split(/\r?\n/)) if (/other|kept/.test(line)) assert.ok(edited.includes(line), line);
      assert.deepEqual(applyTomlEdits(edited, EDITS), { text: edited, applied: [] });
      assert.deepEqual(revertTomlEdits(edited, applied), { text, conflicts: [] }, edited);
      const touched = `# later\n${edited}`;
      assert.deepEqual(revertTomlEdits(touched, applied), { text: `# later\n${text}`, conflicts: [] }, touched);
    }
    const { text, applied } = applyTomlEdits(WITH_MORE[0] ?? "", EDITS);
    assert.deepEqual(revertTomlEdits(text.replace("/n/node", "/mine"), applied).conflicts, ["mcp_servers.narthex"]);
  });

  it("keeps later changes, and added comments", () => {
    const { text, applied } = applyTomlEdits('model = "o"\n', EDITS);
    const changed = text.replace("shell_tool = false", "shell_tool = true").replace("view_image = false", "# note");
    const taken = revertTomlEdits(changed, applied);
    assert.deepEqual(taken.conflicts, ["features.shell_tool"]);
    assert.equal(taken.text, 'model = "o"\n\n[features]\nshell_tool = true\n# note\n');
    const commented = text.replace("required = true", "required = true # ours too");
    assert.match(revertTomlEdits(commented, applied).text, /\[mcp_servers\.narthex\]\n# ours too\n$/);
  });

  it("rejects another program's table, a form that cannot be extended, and invalid TOML", () => {
    for (const [text, message] of [
      ['[mcp_servers.narthex]\ncommand = "x"\n', /`mcp_servers\.narthex` is not narthex's/],
      ["mcp_servers.narthex = { command = 'x' }\n", /`mcp_servers\.narthex` is not narthex's/],
      ["mcp_servers = {}\n", /`mcp_servers` is not a plain table/],
      ["[[mcp_servers]]\nx = 1\n", /not a plain table/],
      ["[[mcp_servers.narthex]]\ncommand = 'x'\n", /`mcp_servers\.narthex` is not narthex's/],
      ["features = { shell_tool = true }\n", /`features` is not a plain table/],
      ["[features.shell_tool]\nx = 1\n", /not a plain table/],
      ["model = \n", /a value is missing/],
      ['model = "o\n', /a value is missing/],
      ['model = """o\n', /a text does not end/],
      ["[features\n", /`\]` is missing/],
      ["model 1\n", /`=` is missing/],
      ["a = 1 b = 2\n", /the line goes on/],
      ['a = "\\q"\n', /unknown escape/],
      ["a = [1 2]\n", /`,` or `]` is missing/],
      ["a = {b}\n", /`=` is missing/],
    ] as const) {
      const strict = EDITS.map((edit) => ({ ...edit, mayReplace: () => false }));
      assert.throws(() => applyTomlEdits(text, strict), { name: "EditProblem", message }, text);
    }
  });
});

function readByPython(texts: readonly string[]): JsonValue[] {
  const program =
    "import json,sys,tomllib\n" +
    "print(json.dumps([tomllib.loads(t.removeprefix('\\ufeff')) for t in json.load(sys.stdin)], default=str))";
  const input = JSON.stringify(texts);
  return JSON.parse(execFileSync("/usr/bin/python3", ["-c", program], { input, encoding: "utf8" })) as JsonValue[];
}

function merge(below: unknown, above: unknown): unknown {
  if (typeof below !== "object" || typeof above !== "object" || below === null || above === null) return above;
  if (Array.isArray(above)) return above;
  const merged = new Map<string, unknown>(Object.entries(below));
  for (const [key, value] of Object.entries(above)) merged.set(key, merge(merged.get(key), value));
  return Object.fromEntries(merged);
}
