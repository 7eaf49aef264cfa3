import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { parseConfiguration } from "../configuration/parse-configuration.ts";

const parse = (...lines: string[]) => parseConfiguration(lines.join("\n"), "narthex.yaml");

function problemsOf(...lines: string[]): string[] {
  try {
    parse(...lines);
  } catch (fault) {
    if (!isKernelError(fault) || fault.code !== "CONFIG_INVALID") throw fault;
    return fault.violations.map(({ field, message }) => {
      // The key of the violation is the one that the message names.
      assert.ok(message.includes(`\`${field}\``), `${field}: ${message}`);
      return message;
    });
  }
  return assert.fail("it was taken");
}

const UNFIT = "is nothing that can stand here; docs/guides/network.md says what can";

describe("network in narthex.yaml", () => {
  it("names every problem with its line and key", () => {
    assert.deepEqual(
      problemsOf(
        "network:",
        "  dns: [1.1.1.1, resolver.test]",
        "  authorities: ca.pem",
        "  secrets:",
        "    token:",
        "      - a.test",
        "      - https://a.test",
        "    other: []",
        "  credentials:",
        "    - { host: a.test }",
        "    - { host: a.test, secret: token, password: x }",
        "  proxy: b.test",
      ),
      [
        `line 2: \`network.dns[1]\` ${UNFIT}`,
        "line 3: `network.authorities` must be a list",
        `line 7: \`network.secrets.token[1]\` ${UNFIT}`,
        "line 8: `network.secrets.other` must not be empty",
        "line 10: `network.credentials[0].secret` must be given",
        "line 11: `network.credentials[1].password` is not known; known are host, secret, user",
        "line 12: `network.proxy` is not known; known are hosts, dns, authorities, secrets, credentials",
      ],
    );
  });

  it("takes no host that only looks like one, and says where it stands", () => {
    assert.deepEqual(
      problemsOf(
        "network:",
        "  dns:",
        '    - "[1::2::3]"',
        "  secrets:",
        "    token:",
        "      - a.test",
        '      - "[abc]"',
        '      - "[:::]:443"',
        "      - 1.2.3.256",
        "      - a.0x7f",
        '      - "127.1"',
        '      - "*.0.0.1"',
        '      - "*.127.0.0.1"',
        "  credentials:",
        "    - secret: token",
        "      host: a.1",
      ),
      [
        ["3", "dns[0]"],
        ["7", "secrets.token[1]"],
        ["8", "secrets.token[2]"],
        ["9", "secrets.token[3]"],
        ["10", "secrets.token[4]"],
        ["11", "secrets.token[5]"],
        ["12", "secrets.token[6]"],
        ["13", "secrets.token[7]"],
        ["16", "credentials[0].host"],
      ].map(([line, key]) => `line ${line}: \`network.${key}\` names a host that is none`),
    );
  });

  it("lets no secret go everywhere, and to no port that there is not", () => {
    for (const host of [
      "*",
      "*:443",
      "a.*",
      "a.test:0",
      "a.test:65536",
      "a.test:",
      "::1",
      "A.test",
      "a.test/x",
      "a b",
    ]) {
      assert.deepEqual(problemsOf("network:", `  secrets: { token: ["${host}"] }`), [
        `line 2: \`network.secrets.token[0]\` ${UNFIT}`,
      ]);
    }
  });

  it("rejects an invalid host for sessions", () => {
    const told = problemsOf("network:", "  hosts:", "    - a.test", '    - "*:443"', "    - a.0x7f");
    assert.deepEqual(told, [
      `line 4: \`network.hosts[1]\` ${UNFIT}`,
      "line 5: `network.hosts[2]` names a host that is none",
    ]);
  });

  it("does not repeat what was written where a secret's name should be", () => {
    const told = problemsOf("network:", "  credentials: [{ host: a.test, secret: 'sk-live 1234' }]");
    assert.deepEqual(told, [`line 2: \`network.credentials[0].secret\` ${UNFIT}`]);
  });

  it("is read whole: hosts with and without ports, patterns, and addresses in their one spelling", () => {
    const { network } = parse(
      "network:",
      '  hosts: ["*", a.test, "*.b.test:8443", "[::1]:80"]',
      '  dns: [9.9.9.9, "9.9.9.9:53", "[2620:fe::fe]", "[2620:fe::fe]:53"]',
      "  authorities: [/a.pem, /b c.pem]",
      "  secrets:",
      '    token: [a.test, "a.test:65535", "*.a.test", "*.a.test:8443", 127.0.0.1, "127.0.0.1:80"]',
      '    other: ["[0:0:0:0:0:0:0:1]", "[2001:db8::0:1]:443"]',
      "  credentials:",
      '    - { host: "forge.test:8443", secret: token }',
      "    - { host: a.test, secret: other, user: agent }",
    );
    assert.deepEqual(network, {
      hosts: [{ host: "*" }, { host: "a.test" }, { host: "*.b.test", ports: [8443] }, { host: "::1", ports: [80] }],
      dns: ["9.9.9.9", "9.9.9.9:53", "[2620:fe::fe]", "[2620:fe::fe]:53"],
      authorities: ["/a.pem", "/b c.pem"],
      secrets: new Map([
        [
          "token",
          [
            { host: "a.test" },
            { host: "a.test", ports: [65_535] },
            { host: "*.a.test" },
            { host: "*.a.test", ports: [8443] },
            { host: "127.0.0.1" },
            { host: "127.0.0.1", ports: [80] },
          ],
        ],
        ["other", [{ host: "::1" }, { host: "2001:db8::1", ports: [443] }]],
      ]),
      credentials: [
        { hosts: [{ host: "forge.test", ports: [8443] }], secret: "token", user: "x-access-token" },
        { hosts: [{ host: "a.test" }], secret: "other", user: "agent" },
      ],
    });
  });
});

describe("web_search in narthex.yaml", () => {
  it("names every problem with its line and key", () => {
    assert.deepEqual(
      problemsOf(
        "web_search:",
        "  own:",
        "    kind: google",
        "    url: https://user@a.test",
        "  other:",
        "    url: http://a.test:99999/",
        "    kind: brave",
        "    key: x",
        "  Third: {}",
        "  last: { kind: brave }",
      ),
      [
        "line 3: `web_search.own.kind` must be one of searxng, brave",
        `line 4: \`web_search.own.url\` ${UNFIT}`,
        "line 6: `web_search.other.url` is no URL",
        "line 8: `web_search.other.key` is not known; known are kind, url, secret",
        "line 9: `web_search.Third` is no name that can stand here",
        "line 10: `web_search.last.url` must be given",
      ],
    );
  });

  it("keeps the order in which providers are written", () => {
    const { webSearch } = parse(
      "web_search:",
      "  own: { kind: searxng, url: http://127.0.0.1:8888/searx }",
      "  a: { kind: brave, url: https://b.test, secret: brave_key }",
    );
    assert.deepEqual(webSearch, [
      { name: "own", kind: "searxng", url: "http://127.0.0.1:8888/searx", secret: undefined },
      { name: "a", kind: "brave", url: "https://b.test", secret: "brave_key" },
    ]);
  });
});

describe("inference in narthex.yaml", () => {
  it("names every problem with its line and key", () => {
    assert.deepEqual(
      problemsOf(
        "inference:",
        "  local:",
        "    format: ollama",
        "    url: http://[::1",
        "    input_price: 0.5",
        "    models:",
        "      small: { output_price: -1 }",
        "      large: { price: 1 }",
        "  other: { url: https://a.test, max_tokens_field: tokens }",
      ),
      [
        "line 3: `inference.local.format` must be one of openai, anthropic, gemini",
        "line 4: `inference.local.url` is no URL",
        "line 5: `inference.local.input_price` must be a whole number from 0 to 1000000000000",
        "line 7: `inference.local.models.small.output_price` must be a whole number from 0 to 1000000000000",
        "line 8: `inference.local.models.large.price` is not known; known are input_price, output_price",
        "line 9: `inference.other.max_tokens_field` must be one of max_tokens, max_completion_tokens",
        "line 9: `inference.other.format` must be given",
      ],
    );
  });

  it("prices a model as it says, and otherwise as its provider does", () => {
    const { inference } = parse(
      "inference:",
      "  far:",
      "    format: openai",
      "    url: https://a.test/v1",
      "    secret: model_key",
      "    input_price: 3",
      "    max_tokens_field: max_completion_tokens",
      "    models: { small: { input_price: 1, output_price: 2 }, half: { output_price: 9 }, plain: {} }",
      "  near: { format: gemini, url: http://127.0.0.1:1 }",
    );
    assert.deepEqual(inference, [
      {
        name: "far",
        format: "openai",
        url: "https://a.test/v1",
        secret: "model_key",
        price: { input: 3, output: 0 },
        models: new Map([
          ["small", { input: 1, output: 2 }],
          ["half", { input: 3, output: 9 }],
          ["plain", { input: 3, output: 0 }],
        ]),
        maxTokensField: "max_completion_tokens",
      },
      {
        name: "near",
        format: "gemini",
        url: "http://127.0.0.1:1",
        secret: undefined,
        price: { input: 0, output: 0 },
        models: new Map(),
        maxTokensField: undefined,
      },
    ]);
  });
});
