import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { createKernel, defineTool } from "narthex";
import * as v from "valibot";
import { z } from "zod";

/** Fails to compile unless both are the very same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_equal: Same<A, B>): void => {};

const seen: unknown[] = [];
const plain = { description: "Adds a note.", tier: "read_only" } as const;
const withZod = defineTool({
  ...plain,
  name: "with_zod",
  inputSchema: z.object({
    title: z.string().min(1),
    due: z.iso.date().transform((day) => new Date(day)),
    tags: z.array(z.string()).default(["new"]),
    pin: z
      .string()
      .refine((pin) => pin !== "hunter2", { error: (issue) => `${String(issue.input)} is too easy` })
      .optional(),
  }),
  outputSchema: z.object({ id: z.int(), title: z.string(), note: z.string().default("none") }),
  redactors: [{ secrets: ["hunter2"], replacement: "[hidden]" }],
  narrow: ({ due }) => {
    same<typeof due, string>(true);
    return {};
  },
  run: ({ title, due, tags, pin }) => {
    same<typeof due, Date>(true);
    same<typeof tags, string[]>(true);
    same<typeof pin, string | undefined>(true);
    seen.push(due, tags);
    // Without `note`, and with a field that the output schema does not have.
    return { id: 7, title, more: true };
  },
});
const withValibot = defineTool({
  ...plain,
  name: "with_valibot",
  inputSchema: toStandardJsonSchema(
    v.object({ count: v.pipe(v.number(), v.minValue(1)), to: v.optional(v.string(), "ann") }),
  ),
  run: ({ count, to }) => {
    same<typeof count, number>(true);
    return `${to} ${count}`;
  },
});
const withArktype = defineTool({
  ...plain,
  name: "with_arktype",
  inputSchema: type({
    at: "string.date.parse",
    "even?": type("number").narrow((n, ctx) => n % 2 === 0 || ctx.mustBe("even")),
  }),
  run: ({ at }) => {
    same<typeof at, Date>(true);
    return at.getUTCFullYear();
  },
});
/** Asynchronous only for some input, which shows when it comes. */
const late = defineTool({
  ...plain,
  name: "late",
  inputSchema: z.object({ name: z.string().refine(async () => true) }),
  run: () => assert.fail("it ran"),
});
const meddling = defineTool({
  ...plain,
  name: "meddling",
  inputSchema: z.preprocess(
    (given) => Object.assign(given as object, { path: "changed" }),
    z.looseObject({ path: z.string() }),
  ),
  run: ({ path }) => path,
});
const lying = defineTool({
  ...plain,
  name: "lying",
  inputSchema: true,
  outputSchema: z.object({ n: z.number().refine((n) => n > 5, "must be above 5") }),
  run: async () => ({ n: 1 }),
});
/** Validators that do not keep to the standard, each with what its callers are told; and one that finds very much. */
const BROKEN: readonly (readonly [name: string, answer: unknown, code: string, message: RegExp])[] = [
  ["nothing", undefined, "EXECUTION_FAILED", /answers neither a value nor a list of issues/],
  ["null", null, "EXECUTION_FAILED", /answers neither/],
  ["true", true, "EXECUTION_FAILED", /answers neither/],
  ["function", () => ({ value: {} }), "EXECUTION_FAILED", /answers neither/],
  ["no_value", {}, "EXECUTION_FAILED", /answers neither/],
  ["text", { issues: "bad" }, "EXECUTION_FAILED", /answers neither/],
  ["none", { issues: null, value: {} }, "EXECUTION_FAILED", /answers neither/],
  [
    "issue",
    { issues: [null, { message: Symbol("x"), path: [null] }] },
    "INVALID_INPUT",
    /^`broken_issue`: \$: is refused/,
  ],
  [
    "much",
    { issues: Array.from({ length: 5000 }, (_, index) => ({ message: "m".repeat(5000), path: [index] })) },
    "INVALID_INPUT",
    /m$/,
  ],
];
const broken = BROKEN.map(([name, answer]) => {
  const jsonSchema = { input: () => ({}), output: () => ({}) };
  const inputSchema = {
    "~standard": { version: 1 as const, vendor: "broken", validate: () => answer as never, jsonSchema },
  };
  return defineTool({ ...plain, name: `broken_${name}`, inputSchema, run: () => assert.fail("it ran") });
});

const directory = await mkdtemp(join(tmpdir(), "narthex-schemas-"));
const rule = `@id("small") @message("no changed paths") forbid(principal, action == Action::"meddling", resource)
  when { context.input has path && context.input.path == "changed" };`;
const kernel = await createKernel({
  data: join(directory, "home"),
  tools: [withZod, withValibot, withArktype, late, meddling, lying, ...broken],
  policies: [{ name: "test.cedar", text: rule }],
});
const session = await kernel.session({ workspace: await mkdtemp(join(directory, "workspace-")) });
after(async () => {
  await kernel.close();
  await rm(directory, { recursive: true });
});

test("rejects a schema without a JSON Schema as a declaration, with what to do", () => {
  const define = (inputSchema: object) => () => defineTool({ ...plain, name: "t", inputSchema, run: () => null });
  const refused: [object, RegExp][] = [
    [v.object({}), /^inputSchema: a schema of valibot has no JSON Schema of its own: wrap it in toStandardJsonSchema/],
    [z.object({ at: z.date() }), /^inputSchema: zod cannot say this schema as JSON Schema: Date cannot be represented/],
  ];
  for (const [schema, message] of refused) {
    assert.throws(define(schema), { name: "KernelError", code: "INVALID_DECLARATION", message });
  }
  const output = z.string().transform(Number);
  assert.throws(
    () => defineTool({ ...plain, name: "t", inputSchema: true, outputSchema: output, run: () => "1" }),
    /outputSchema: zod cannot say this schema/,
  );
  assert.throws(
    () =>
      defineTool({
        ...plain,
        name: "t",
        inputSchema: true,
        resultType: "stream",
        outputSchema: z.string(),
        run: async function* () {},
      }),
    /of a stream only JSON Schema can be checked/,
  );
});

test("declares and checks the JSON Schema first, then runs the library's validator", async () => {
  const { inputSchema } = kernel.tools.get("with_zod")?.declaration ?? {};
  assert.ok(typeof inputSchema === "object");
  assert.deepEqual(inputSchema["required"], ["title", "due"]);
  const told = async (tool: string, input: unknown): Promise<unknown> => {
    const { result } = (await session.callTool(tool, input as never)).response;
    assert.ok(result.case === "error", `${tool}: ${result.case}`);
    const { errorCode, violations, effectsPossible } = result.value;
    assert.equal(effectsPossible, false);
    return [errorCode, ...violations.map(({ field, message }) => `${field}: ${message}`)];
  };
  const valid = { title: "Milk", due: "2026-02-28" };
  assert.deepEqual(await told("with_zod", { ...valid, title: "" }), ["INVALID_INPUT", "title: must not be empty"]);
  // Said by zod, which quotes the input: its sender may see that, and the ledger does not keep it.
  assert.deepEqual(await told("with_zod", { ...valid, pin: "hunter2" }), ["INVALID_INPUT", "pin: hunter2 is too easy"]);
  const [last] = await kernel.listRecords({ limit: 1, newest: true, chain: session.id });
  assert.ok(last !== undefined);
  assert.ok(!Buffer.concat([last.record, last.content]).includes("hunter2"));
  assert.deepEqual(await told("with_valibot", { count: 0 }), ["INVALID_INPUT", "count: must be at least 1"]);
  const [code, problem] = (await told("with_arktype", { at: "2026-02-28", even: 3 })) as string[];
  assert.equal(code, "INVALID_INPUT");
  assert.match(problem ?? "", /^even: .*must be even/);
  assert.deepEqual(await told("late", { name: "x" }), ["EXECUTION_FAILED"]);
  const explained = await session.explain("with_zod", { ...valid, pin: "hunter2" });
  assert.deepEqual([explained.answer, explained.code], ["deny", "INVALID_INPUT"]);
});

test("a validator with a non-standard result accepts nothing", async () => {
  for (const [name, , code, message] of BROKEN) {
    const { result } = (await session.callTool(`broken_${name}`, {})).response;
    assert.ok(result.case === "error", `${name}: ${result.case}`);
    assert.equal(result.value.errorCode, code, name);
    assert.match(result.value.message, message, name);
    assert.ok(result.value.violations.length <= 50, name);
  }
});

test("a tool's code gets the library's parsed input, and rules evaluate the original input", async () => {
  const zod = await session.call("with_zod", { title: "Milk", due: "2026-02-28" });
  assert.deepEqual(zod.raw, { id: 7, title: "Milk", note: "none" });
  assert.deepEqual(seen, [new Date("2026-02-28"), ["new"]]);
  assert.equal((await session.call("with_valibot", { count: 2 })).raw, "ann 2");
  assert.equal((await session.call("with_arktype", { at: "2026-02-28" })).raw, 2026);
  // Its validator changes the object that it is given: a copy, so that the rule decides about what was sent.
  assert.equal((await session.call("meddling", { path: "sent" })).raw, "changed");
  assert.equal((await session.call("meddling", { path: "changed" })).status, "denied");
});

test("an output that the library rejects is INVALID_OUTPUT, with effects possible", async () => {
  const { result } = (await session.call("lying", 1)).response;
  assert.ok(result.case === "error");
  const { errorCode, message } = result.value;
  assert.deepEqual([errorCode, message], ["INVALID_OUTPUT", "`lying`: n: must be above 5"]);
});
