import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isKernelError, type KernelError } from "@narthex/contracts";
import { DEFAULT_CONFIGURATION } from "./configuration.ts";
import { DEFAULT_CONFIGURATION_TEXT } from "./default-configuration-text.ts";
import { DEFAULT_SECRET_PATHS } from "../files/secret-paths.ts";
import { DEFAULT_PROTECTED_PATHS } from "../trusted-paths/protected-names.ts";
import { parseConfiguration } from "./parse-configuration.ts";

const parse = (text: string): unknown => parseConfiguration(text, "/home/narthex.yaml");

function failureOf(text: string): KernelError {
  try {
    parse(text);
  } catch (fault) {
    assert.ok(isKernelError(fault));
    assert.equal(fault.code, "CONFIG_INVALID");
    assert.doesNotMatch(fault.message, /[\p{Cc}\p{Zl}\p{Zp}]/u);
    return fault;
  }
  return assert.fail(`accepted ${text.slice(0, 100)}`);
}

const messagesOf = (text: string): string[] => failureOf(text).violations.map(({ message }) => message);

describe("problems", () => {
  test("are all told at once, each with its line and key, and the file", () => {
    const failure = failureOf(
      ["sesion: {}", "view_bytes: many", "session:", "  ttl_ms: 0", "  ttlms: 5", "limits: 7", "view_bytes: 64"].join(
        "\n",
      ),
    );
    assert.deepEqual(failure.violations, [
      {
        field: "sesion",
        rule: "unknown_field",
        message: "line 1: unknown key `sesion`; the nearest known key is `session`",
      },
      {
        field: "view_bytes",
        rule: "format",
        message: "line 2: `view_bytes` must be a whole number (found the text `many`)",
      },
      {
        field: "session.ttl_ms",
        rule: "range",
        message: "line 4: `session.ttl_ms` must be from 1 to 31536000000 (found `0`)",
      },
      {
        field: "session.ttlms",
        rule: "unknown_field",
        message: "line 5: unknown key `session.ttlms`; the nearest known key is `session.ttl_ms`",
      },
      { field: "limits", rule: "format", message: "line 6: `limits` must be a section of keys (found `7`)" },
      { field: "view_bytes", rule: "duplicate", message: "line 7: `view_bytes` is given twice; keep one" },
    ]);
    assert.equal(
      failure.message,
      `\`/home/narthex.yaml\`: ${failure.violations.map(({ message }) => message).join("; ")}`,
    );
  });

  test("name the key that was meant, wherever it belongs and however it is spelled", () => {
    const meant = [
      ["ttl_ms: 1", "session.ttl_ms"],
      ["windowMs: 1", "session.quarantine.window_ms"],
      ["Listen: 1", "listen"],
      ["timeout: 1", "timeouts"],
      ["budgets: {call: 1}", "budgets.calls"],
      ["limits: {view_bytes: 64}", "view_bytes"],
      ["timeouts: {aproval_ms: 1}", "timeouts.approval_ms"],
    ];
    for (const [text = "", key] of meant) {
      assert.match(failureOf(text).message, new RegExp(`the nearest known key is \`${key}\``), text);
    }
  });

  test("names of objects' own properties are as unknown as any other", () => {
    for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty", '"<<"', '""', "null", "1", "true"]) {
      for (const text of [`${key}: {view_bytes: 64}`, `session: {${key}: 1}`, `${key}: 1\n${key}: 2`]) {
        assert.match(failureOf(text).message, /unknown key/, text);
      }
    }
  });

  test("show what cannot be seen, and cut what is long", () => {
    const { message } = failureOf(`"a\\u202e\\n\`b": 1\nlisten: "\\u0007${"x".repeat(500)}"\n`);
    assert.match(message, /unknown key `a\\u\{202e\}\\u\{a\}\\u\{60\}b`/);
    assert.match(message, /found the text `\\u\{7\}x{59}…`/);
  });

  test("beyond twenty are in the list, beyond a hundred counted", () => {
    const failure = failureOf(Array.from({ length: 150 }, (_, index) => `key${index}: 1`).join("\n"));
    assert.equal(failure.violations.length, 100);
    assert.match(failure.message, /; line 20: [^;]+; [^;]+; and 130 more$/);
  });
});

describe("values", () => {
  test("that are no whole number within the range are refused", () => {
    const values = [
      "-1",
      "1.5",
      ".inf",
      "-.inf",
      ".nan",
      '"5"',
      "true",
      "null",
      "~",
      "",
      "[]",
      "{}",
      "28_800_000",
      "1:30",
    ];
    for (const value of [...values, "9007199254740992", "9007199254740993", "1e400", "2026-01-01"]) {
      assert.match(failureOf(`budgets:\n  calls: ${value}`).message, /line 2: `budgets.calls` must be/, value);
    }
  });

  test("are read in every notation YAML has for whole numbers", () => {
    for (const [text, calls] of [
      ["0", 0],
      ["-0", 0],
      ["1e3", 1000],
      ["1.0", 1],
      ["0x10", 16],
      ["0o10", 8],
      ["+5", 5],
    ] as const) {
      const { budgets } = parseConfiguration(`budgets: {calls: ${text}}`, "x");
      assert.ok(Object.is(budgets.calls, calls), text);
    }
    assert.equal(parseConfiguration("budgets: {calls: 9007199254740991}", "x").budgets.calls, Number.MAX_SAFE_INTEGER);
  });

  test("of a section that is empty are refused, since its keys may have slipped out of it", () => {
    assert.deepEqual(messagesOf("session:\nview_bytes: 64"), [
      "line 1: `session` must be a section of keys (found nothing)",
    ]);
  });

  test("fill in what the file leaves out, and cannot be changed", () => {
    const configuration = parseConfiguration("session: {quarantine: {violations: 9}}\nbudgets: {cpu_ms: 0}", "x");
    assert.deepEqual(configuration, {
      ...DEFAULT_CONFIGURATION,
      session: { ...DEFAULT_CONFIGURATION.session, quarantine: { violations: 9, windowMs: 60_000 } },
      budgets: { cpu_ms: 0 },
    });
    for (const part of [
      configuration,
      configuration.session,
      configuration.session.quarantine,
      configuration.budgets,
    ]) {
      assert.ok(Object.isFrozen(part));
    }
  });
});

describe("YAML", () => {
  test("that is broken is refused with the line", () => {
    assert.match(failureOf("view_bytes: 64\nlimits: {").message, /line 2: is not YAML/);
    assert.match(failureOf("session:\n\tttl_ms: 5").message, /line 2: is not YAML: `Tabs/);
    assert.match(failureOf("view_bytes: 64\n---\nview_bytes: 65").message, /a second document begins here/);
    assert.match(failureOf("view_bytes: 64\n...\nview_bytes: 65").message, /a second document begins here/);
    assert.match(failureOf("[a]: 1").message, /line 1: a key must be a plain name/);
    for (const text of ["- a", "text", "5", "~", "[]"])
      assert.match(failureOf(text).message, /must be keys and values/);
  });

  test("tags, directives, merge keys and aliases are refused, not obeyed", () => {
    assert.match(failureOf("view_bytes: !custom 64").message, /Unresolved tag/);
    assert.match(failureOf("listen: !!binary aGk=").message, /Unresolved tag/);
    assert.match(failureOf("%YAML 1.1\n---\nbudgets: {calls: 1:30}").message, /`budgets.calls` must be a whole number/);
    assert.match(failureOf("%YAML 1.1\n---\n<<: {view_bytes: 100}").message, /unknown key `<<`/);
    assert.match(failureOf("view_bytes: &n 64\nbudgets: {calls: *n}").message, /`budgets.calls` is an alias/);
    assert.match(failureOf("session: &s {ttl_ms: 5}\nlimits: *s").message, /`limits` is an alias/);
    assert.match(failureOf("&k view_bytes: 64\n*k : 65").message, /a key must be a plain name/);
    assert.match(failureOf("session: &s\n  quarantine: *s").message, /`session.quarantine` is an alias/);
  });

  test("an anchor that nothing refers to is harmless", () => {
    assert.equal(parseConfiguration("view_bytes: &n 64", "x").viewBytes, 64);
  });

  test("a bomb of aliases is never unfolded", () => {
    const levels = Array.from(
      { length: 30 },
      (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(10)}]`,
    );
    assert.match(failureOf(["a0: &a0 x", ...levels].join("\n")).message, /unknown key `a0`/);
  });

  test("a megabyte of anything is refused without being parsed", () => {
    const megabyte = 1024 * 1024;
    for (const piece of [
      "[",
      "]",
      "{a: ",
      "- ",
      "? ",
      '"',
      "&a ",
      "!a ",
      "a: b: c\n",
      "k: 1\n",
      "---\n",
      "*a ",
      "{}",
    ]) {
      const text = piece.repeat(megabyte / piece.length);
      assert.match(failureOf(text).message, /more than a configuration can need/, piece);
    }
  });

  test("nesting that would overflow the stack is refused", () => {
    for (const piece of ["- ", "? ", "- - ? "])
      assert.match(failureOf(piece.repeat(3000)).message, /nested too deeply/);
    const indented = Array.from({ length: 1200 }, (_, index) => `${" ".repeat(index)}a:`);
    assert.match(failureOf(indented.join("\n")).message, /nested too deeply|unknown key/);
  });
});

describe("protected paths and the vault", () => {
  test("take the place of the defaults", () => {
    const { protectedPaths, vault } = parseConfiguration("protected_paths: [a, 'b/*.key']\nvault: /srv/vault", "x");
    assert.deepEqual([protectedPaths, vault], [["a", "b/*.key"], "/srv/vault"]);
    assert.deepEqual(parseConfiguration("protected_paths: []", "x").protectedPaths, []);
  });

  test("add to the defaults with `default`", () => {
    const { protectedPaths } = parseConfiguration("protected_paths: [default, Makefile, .git]", "x");
    assert.deepEqual(protectedPaths, [...DEFAULT_PROTECTED_PATHS, "Makefile"]);
  });

  test("that lead elsewhere are refused, each with its line", () => {
    assert.deepEqual(messagesOf("protected_paths:\n  - ok\n  - /etc\n  - ../x\n  - [a]\nvault: srv/../x"), [
      "line 3: `protected_paths` takes relative paths without `.` and `..` (found the text `/etc`)",
      "line 4: `protected_paths` takes relative paths without `.` and `..` (found the text `../x`)",
      "line 5: `protected_paths` takes relative paths without `.` and `..` (found a list)",
      "line 6: `vault` must be an absolute path without `.` and `..`, or empty (found the text `srv/../x`)",
    ]);
  });
});

describe("the default file", () => {
  test("says what holds without a file", () => {
    assert.deepEqual(parse(DEFAULT_CONFIGURATION_TEXT), DEFAULT_CONFIGURATION);
    for (const empty of ["", "# nothing\n", "---\n", "{}", "\n\n"])
      assert.deepEqual(parse(empty), DEFAULT_CONFIGURATION);
  });

  test("has a line for every key, at work or to be taken into work", () => {
    const uncommented = DEFAULT_CONFIGURATION_TEXT.replaceAll("#   ", "  ").replace("budgets: {}\n", "");
    const withBudgets = uncommented.replace("# Replace the braces by lines such as these:\n", "budgets:\n");
    const withSecrets = withBudgets
      .replace(/# hidden in .* such as these:\n/, "secrets:\n")
      .replace("secrets: {}\n", "")
      .replace(/# here, or servers by HTTP; .* such as these:\n/, "mcp_servers:\n")
      .replace("mcp_servers: {}\n", "")
      .replace(/# a password; .* such as these:\n/, "network:\n")
      .replace("network: {}\n", "")
      .replace(/# Where web_search .* such as these; .*:\n/, "web_search:\n")
      .replace("web_search: {}\n", "")
      .replace(/# as these:\n/, "inference:\n")
      .replace("inference: {}\n", "");
    const { budgets, secrets, mcpServers, network, webSearch, inference, ...rest } = parseConfiguration(
      withSecrets,
      "x",
    );
    assert.equal(Object.keys(budgets).length, 7);
    assert.deepEqual([...secrets.keys()], ["weather_key", "mail_password", "deploy_token"]);
    const [notes, board] = [mcpServers.get("notes"), mcpServers.get("board")];
    assert.deepEqual(notes !== undefined && "command" in notes && notes.command, ["node", "/srv/notes/server.js"]);
    assert.deepEqual(board !== undefined && "url" in board && board.url, "https://mcp.board.example/mcp");
    assert.deepEqual(network, {
      hosts: [{ host: "registry.example" }, { host: "*.docs.example" }],
      dns: ["9.9.9.9", "[2620:fe::fe]:53"],
      authorities: ["/etc/ssl/private-authority.pem"],
      secrets: new Map([["forge_token", [{ host: "api.forge.example" }]]]),
      credentials: [{ hosts: [{ host: "forge.example" }], secret: "forge_token", user: "agent" }],
    });
    assert.deepEqual(
      webSearch.map(({ name, kind }) => [name, kind]),
      [
        ["own", "searxng"],
        ["brave", "brave"],
      ],
    );
    assert.deepEqual(
      inference.map(({ name, format, price }) => [name, format, price]),
      [
        ["local", "openai", { input: 0, output: 0 }],
        ["claude", "anthropic", { input: 3, output: 15 }],
      ],
    );
    const { network: noNetwork, webSearch: noSearch, inference: noModels } = DEFAULT_CONFIGURATION;
    const none = { budgets: {}, secrets: new Map(), mcpServers: new Map() };
    assert.deepEqual(
      { ...rest, ...none, network: noNetwork, webSearch: noSearch, inference: noModels },
      DEFAULT_CONFIGURATION,
    );
  });

  test("has the values that are promised", () => {
    assert.deepEqual(DEFAULT_CONFIGURATION, {
      listen: { host: "127.0.0.1", port: 7411 },
      session: { ttlMs: 28_800_000, ownCode: "refuse", quarantine: { violations: 5, windowMs: 60_000 } },
      budgets: {},
      storage: {
        sessionBytes: 2_147_483_648,
        scratchBytes: 4_294_967_296,
        cacheBytes: 2_147_483_648,
        growthBytes: 10_737_418_240,
        reserveBytes: 1_073_741_824,
        reservePercent: 5,
      },
      timeouts: { approvalMs: 600_000, approvalWaitMs: 45_000, shutdownMs: 10_000, idleMs: 60_000 },
      checkpoints: { everyRecords: 1000, everyMs: 60_000 },
      retention: { maxAgeMs: 1_209_600_000, maxBytes: 5_368_709_120, everyMs: 600_000 },
      protectedPaths: DEFAULT_PROTECTED_PATHS,
      secretPaths: DEFAULT_SECRET_PATHS,
      vault: undefined,
      secrets: new Map(),
      limits: { maxInFlightBytes: 268_435_456, maxConnections: 1024 },
      policy: { mode: "enforce" },
      mcp: { elicitation: "never", tools: "coding" },
      mcpServers: new Map(),
      network: { hosts: [], dns: [], authorities: [], secrets: new Map(), credentials: [] },
      webSearch: [],
      inference: [],
      shell: { backend: "sandbox" },
      viewBytes: 16_384,
    });
  });
});
