import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, isKernelError } from "@narthex/contracts";
import { load, problemsOf } from "./test-policy.ts";

const ECHO = 'permit(principal, action == Action::"echo", resource)';

async function refused(text: string, ...expected: (string | RegExp)[]): Promise<void> {
  const problems = await problemsOf(text);
  assert.equal(problems.length, expected.length, problems.join("\n") || `accepted: ${text}`);
  for (const [index, line] of expected.entries()) {
    if (typeof line === "string") assert.equal(problems[index], line);
    else assert.match(problems[index] ?? "", line);
  }
}

test("no file, an empty file and comments alone are no policy", async () => {
  for (const files of [{}, { "a.cedar": "" }, { "a.cedar": "// permit(principal, action, resource);\n" }]) {
    assert.match((await problemsOf(files))[0] ?? "accepted", /^: there is no rule, so every call is denied/);
  }
});

test("an unknown action is a load error with its place, and the nearest one is named", async () => {
  await refused(
    'permit(principal, action == Action::"git_pusch", resource);',
    'p.cedar:1:29: unrecognized action `Action::"git_pusch"`; did you mean `Action::"git_push"`?',
  );
  await refused('permit(principal, action == Action::"zzzzzzzz", resource);', /; see `narthex tools list`$/);
});

test("an unknown attribute is a load error with its place, and the nearest one is named", async () => {
  await refused(
    'permit(principal, action == Action::"file_write", resource)\nwhen { context.input.pth == "a" };',
    /^p\.cedar:2:8: attribute `input\.pth` in context for Action::"file_write" not found; did you mean `path`\?$/,
  );
  await refused(
    `${ECHO} when { principal.role == "admin" };`,
    /^p\.cedar:1:62: attribute `role` on entity type `Agent` not found/,
  );
});

test("a wrong type is a load error with its place", async () => {
  await refused(
    'permit(principal, action == Action::"file_write", resource) when { context.path == 1 };',
    /^p\.cedar:1:68: the types Long and String are not compatible; both operands to a `==` expression/,
  );
  await refused(
    `${ECHO} when { context.calls like "3*" };`,
    /^p\.cedar:1:62: unexpected type: expected String but saw Long/,
  );
});

test("an unknown entity type is a load error with its place", async () => {
  await refused(`permit(principal is Robot, action, resource);`, /^p\.cedar:1:21: unrecognized entity type `Robot`/);
  await refused(`${ECHO} when { principal in Team::"a" };`, /^p\.cedar:1:75: unrecognized entity type `Team`/);
});

test("an attribute that may be absent must be asked for first", async () => {
  const rule = (condition: string) =>
    `permit(principal, action == Action::"file_write", resource) when { ${condition} };`;
  await refused(
    rule("context.input.size < 10"),
    /^p\.cedar:1:68: unable to guarantee safety of access to optional attribute/,
  );
  assert.deepEqual(await problemsOf(rule("context.input has size && context.input.size < 10")), []);
});

test("what is wrong for many actions is told once", async () => {
  await refused(
    'permit(principal, action, resource) when { context.path like "src/*" };',
    /^p\.cedar:1:44: attribute `path` in context for Action::"echo" not found/,
  );
});

test("every problem of every file is told, by name and place", async () => {
  const problems = await problemsOf({
    "b.cedar": `${ECHO};\n${ECHO} when { tru };\npermit(principal == ?principal, action, resource);`,
    "a.cedar": '\n  permit(principal, action == Action::"nope", resource);\nforbid(principal, action, resource',
    "c.cedar": `@aprove("none")\n${ECHO};\n@approve("humann")\n${ECHO};`,
  });
  assert.deepEqual(
    problems.map((line) => line.slice(0, line.indexOf(": "))),
    ["a.cedar:3:35", "b.cedar:2:62", "b.cedar:3:21", "c.cedar:1:2", "c.cedar:3:2", "a.cedar:2:31"],
  );
  assert.match(problems[0] ?? "", /unexpected end of input/);
  assert.match(problems[1] ?? "", /invalid variable: tru; the valid Cedar variables are/);
  assert.match(problems[2] ?? "", /got a template containing the slot \?principal/);
  assert.match(problems[3] ?? "", /`@aprove` is not an annotation; .*; did you mean @approve\?$/);
  assert.match(problems[4] ?? "", /not `humann`; did you mean "human"\?$/);
});

test("columns count characters and lines end as editors end them, before and after wide text", async () => {
  const bad = 'permit(principal, action == Action::"nope", resource);';
  await refused(`// 日本語 😀\r\n${bad}`, /^p\.cedar:2:29: /);
  await refused(`// a\r${bad}`, /^p\.cedar:2:29: /);
  await refused(`${ECHO} when { "😀é" == "b" }; ${bad}`, /^p\.cedar:1:105: /);
  await refused(
    `${ECHO} when { "😀é" == context.tool && context.nope == 1 };`,
    /^p\.cedar:1:86: attribute `nope` in context/,
  );
});

test("text that a reviewer would read otherwise is refused, a byte order mark with advice", async () => {
  await refused(`\ufeff${ECHO};`, "p.cedar:1:1: the file starts with a byte order mark; save it as UTF-8 without one");
  for (const hidden of ["\u202e", "\u200b", "\u2028", "\u0000", "\u001b", "\u2066", "\ufeff"]) {
    await refused(`${ECHO};\n// a${hidden}b`, /^p\.cedar:2:5: the character U\+[0-9A-F]{4} is not allowed/);
  }
});

test("a quotation or a comment does not end a rule, nor hide one", async () => {
  const text = [
    `${ECHO} when { context.tool == "; permit(principal, action, resource);" };`,
    "// ; forbid(principal, action, resource);",
    `@message("say \\"; // no")`,
    "forbid(principal, action, // ; here\n resource);",
    `${ECHO} when { context.tool == "two\nlines;" };`,
  ].join("\n");
  const { rules } = await load(text);
  assert.deepEqual(
    rules.map(({ effect, line }) => [effect, line]),
    [
      ["permit", 1],
      ["forbid", 3],
      ["permit", 6],
    ],
  );
  assert.equal(rules[1]?.message, 'say "; // no');
});

test("a number that a double cannot hold is refused, wherever it stands", async () => {
  const rule = (number: string) => `${ECHO} when { context.calls < ${number} };`;
  await refused(rule("9007199254740992"), /^p\.cedar:1:78: the number is too large/);
  await refused(rule("-9223372036854775808"), /^p\.cedar:1:79: the number is too large/);
  await refused(rule("9223372036854775808"), /integer literal `9223372036854775808` is too large/);
  assert.deepEqual(await problemsOf(rule("9007199254740991")), []);
  assert.deepEqual(await problemsOf(`@id("x99999999999999999999")\n${ECHO};`), []);
});

test("annotations are known, have values, and fit their rule", async () => {
  await refused(`@id\n${ECHO};`, 'p.cedar:1:2: @id needs a value: @id("...")');
  await refused(`@id("")\n${ECHO};`, /^p\.cedar:1:2: @id must have 1 to/);
  await refused(`@id("kernel:decide")\n${ECHO};`, /must not start with kernel:/);
  await refused(`@id("a\\n")\n${ECHO};`, /none of them a control character/);
  await refused(`@rationale("because")\n${ECHO};`, /must be a code such as/);
  await refused(`@message("a\\u{1b}[31m")\n${ECHO};`, /must be one line/);
  await refused(`@__proto__("x")\n${ECHO};`, /`@__proto__` is not an annotation/);
  await refused(`@approve("none")\nforbid(principal, action, resource);`, /belongs on a permit/);
  await refused(`@overrides("a")\nforbid(principal, action, resource);`, /belongs on a permit/);
  await refused(`@overrides("a")\n${ECHO};`, 'p.cedar:1:1: @overrides needs @approve("none") beside it');
  await refused(`@approve("none") @overrides(" ,")\n${ECHO};`, /^p\.cedar:1:19: @overrides must name a rule/);
  await refused(`@approve("always") @id("a, b")\n${ECHO};`, /needs an @id without a comma/);
  await refused(`@approve("allways")\n${ECHO};`, /not `allways`; did you mean "always"\?$/);
  await refused(`@id("a") @id("b")\n${ECHO};`, /^p\.cedar:1:10: duplicate annotation: @id$/);
});

test("two rules cannot have one id, nor two files one name", async () => {
  await refused(`@id("a")\n${ECHO};\n@id("a")\n${ECHO};`, /^p\.cedar:3:1: the rule id `a` is taken by p\.cedar:1:1/);
  await refused(`${ECHO};\n@id("p.cedar#1")\n${ECHO};`, /^p\.cedar:2:1: the rule id `p\.cedar#1` is taken/);
});

test("at most a hundred problems are told, and the number of rules is bounded", async () => {
  assert.equal((await problemsOf(`${ECHO} when { tru };\n`.repeat(150))).length, 100);
  assert.deepEqual(await problemsOf(`${ECHO};`.repeat(10_001)), [": there are more than 10000 rules"]);
});

test("a rule that can never apply is a warning, not an error", async () => {
  const { warnings, rules } = await load(
    `${ECHO};\n@id("never")\n${ECHO} when { context.calls > 1 && false };\npermit(principal, action == Action::"git", resource);`,
  );
  assert.equal(rules.length, 3);
  assert.deepEqual(
    warnings.map(({ field }) => field),
    ["p.cedar:2:1", "p.cedar:4:1"],
  );
  assert.match(warnings[0]?.message ?? "", /policy is impossible/);
  assert.match(warnings[1]?.message ?? "", /unable to find an applicable action/);
});

test("a set is its rules, their annotations and places, Cedar's form of them, and bytes to hash", async () => {
  const set = await load({
    "b.cedar": `${ECHO};`,
    "a.cedar": `\n  @id("r") @approve("console") @rationale("CODE") @message("Why.")\n  ${ECHO};`,
  });
  assert.deepEqual(
    set.rules.map((rule) => ({ ...rule, text: "" })),
    [
      {
        id: "r",
        text: "",
        effect: "permit",
        approve: "console",
        overrides: [],
        rationale: "CODE",
        message: "Why.",
        file: "a.cedar",
        line: 2,
        column: 3,
      },
      {
        id: "b.cedar#1",
        text: "",
        effect: "permit",
        approve: "unstated",
        overrides: [],
        rationale: undefined,
        message: undefined,
        file: "b.cedar",
        line: 1,
        column: 1,
      },
    ],
  );
  assert.deepEqual(
    set.policies.map(({ id, json }) => [id, json["effect"]]),
    [
      ["r", "permit"],
      ["b.cedar#1", "permit"],
    ],
  );
  const text = new TextDecoder().decode(set.bytes);
  assert.match(text, /^\[\{"name":"a\.cedar","text":"\\n {2}@id/);
  const again = await load({
    "a.cedar": `\n  @id("r") @approve("console") @rationale("CODE") @message("Why.")\n  ${ECHO};`,
    "b.cedar": `${ECHO};`,
  });
  assert.deepEqual(blake3(again.bytes), blake3(set.bytes));
});

test("the fault's own message names the first problem and counts the rest", async () => {
  await assert.rejects(load(`${ECHO} when { tru };\n${ECHO} when { fals };`), (fault: unknown) => {
    return isKernelError(fault) && /^p\.cedar:1:62: invalid variable: tru.* \(and 1 more\)$/.test(fault.message);
  });
});
