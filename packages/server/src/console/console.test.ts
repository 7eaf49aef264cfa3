import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { test } from "node:test";
import { post } from "../service/test-door.ts";
import { TEST_IDENTITY } from "../service/test-identity.ts";
import { socketPath } from "../test-socket.ts";
import { openTestConsole } from "./test-console.ts";

const HEADER = { "x-narthex-console": "none" };

function reasonsOf(refusals: readonly { readonly door: string; readonly reason: string }[]): string[] {
  return refusals.map(({ door, reason }) => `${door} ${reason}`);
}

test("rejects and records a wrong, a used and an expired sign-in code", async (t) => {
  const { page, ask, clock, refusals } = await openTestConsole(t);
  const used = page.createCode();
  assert.equal((await ask("sign-in", { code: used, name: "" }, HEADER)).status, 200);
  const old = page.createCode();
  clock.nowMs += 10 * 60_000;
  for (const code of [used, old, "", "x".repeat(43), `${page.createCode()}x`]) {
    const answer = await ask("sign-in", { code, name: "" }, HEADER);
    assert.equal(answer.status, 403, code);
    assert.equal(answer.headers["set-cookie"], undefined);
  }
  assert.deepEqual(reasonsOf(refusals), new Array(5).fill("console bad_code"));
});

test("a code signs in once, also with two concurrent requests", async (t) => {
  const { page, ask } = await openTestConsole(t);
  const code = page.createCode();
  const answers = await Promise.all([1, 2, 3].map(() => ask("sign-in", { code, name: "" }, HEADER)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.equal(answers.filter(({ status }) => status === 403).length, 2);
});

test("a GET of the sign-in link consumes no code and sets no cookie", async (t) => {
  const { page, ask, get } = await openTestConsole(t);
  const code = page.createCode();
  for (let looked = 0; looked < 3; looked++) {
    const answer = await get(`/console/sign-in?code=${code}`);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["set-cookie"], undefined);
    assert.ok(!answer.body.toString().includes(code));
  }
  assert.equal((await ask("sign-in", { code, name: "" }, HEADER)).status, 200);
});

test("limits wrong codes, and still accepts a right one", async (t) => {
  const { ask, signIn, clock } = await openTestConsole(t, { limits: { maxFailuresPerMinute: 3 } });
  const wrong = async () => (await ask("sign-in", { code: "y".repeat(43), name: "" }, HEADER)).status;
  assert.deepEqual(
    [await wrong(), await wrong(), await wrong(), await wrong(), await wrong()],
    [403, 403, 403, 429, 429],
  );
  await signIn();
  clock.nowMs += 60_000;
  assert.equal(await wrong(), 403);
});

test("limits open links and signed-in people", async (t) => {
  const { page, ask, signIn } = await openTestConsole(t, { limits: { maxCodes: 2, maxSignIns: 2 } });
  const codes = [page.createCode(), page.createCode(), page.createCode()];
  const statuses = [];
  for (const code of codes) statuses.push((await ask("sign-in", { code, name: "" }, HEADER)).status);
  assert.deepEqual(statuses, [403, 200, 200]);
  const first = await signIn();
  await signIn();
  await signIn();
  assert.equal((await ask("sign-out", {}, first)).status, 401);
});

test("the cookie is hidden from scripts and other sites", async (t) => {
  const { page, ask } = await openTestConsole(t);
  const answer = await ask("sign-in", { code: page.createCode(), name: "" }, HEADER);
  assert.match(
    String(answer.headers["set-cookie"]),
    /^narthex_console=[A-Za-z0-9_-]{43}; Path=\/console; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  );
  assert.equal(answer.headers["cache-control"], "no-store");
});

test("over TLS the cookie is Secure", async (t) => {
  const { page, port } = await openTestConsole(t, { door: { tls: TEST_IDENTITY } });
  const headers = { ...HEADER, origin: `https://127.0.0.1:${port}`, "content-type": "application/json" };
  const outgoing = httpsRequest({
    port,
    host: "127.0.0.1",
    path: "/console/api/sign-in",
    method: "POST",
    headers,
    ca: TEST_IDENTITY.cert,
  });
  outgoing.end(JSON.stringify({ code: page.createCode(), name: "" }));
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  response.resume();
  assert.match(String(response.headers["set-cookie"]), /; HttpOnly; SameSite=Strict; Secure$/);
});

test("every request needs cookie and key, both of the same sign-in", async (t) => {
  const { ask, signIn, clock, refusals, get } = await openTestConsole(t);
  const one = await signIn();
  const other = await signIn();
  const { cookie = "", "x-narthex-console": key = "" } = one;
  for (const name of ["live", "answer", "revoke", "input", "sign-out"]) {
    for (const [what, headers] of [
      ["nothing", {}],
      ["only the cookie", { cookie }],
      ["only the key", { "x-narthex-console": key }],
      ["another's key", { cookie, "x-narthex-console": other["x-narthex-console"] ?? "" }],
      ["a made-up cookie", { cookie: `narthex_console=${"z".repeat(43)}`, "x-narthex-console": key }],
    ] as const) {
      assert.equal((await ask(name, {}, headers)).status, 401, `${name} with ${what}`);
    }
  }
  assert.ok(reasonsOf(refusals).every((reason) => reason === "console not_signed_in"));
  assert.equal((await get("/console", { cookie })).status, 200);
  clock.nowMs += 12 * 60 * 60_000;
  assert.equal((await ask("answer", {}, one)).status, 401);
  const page = await get("/console", { cookie });
  assert.deepEqual([page.status, page.headers["location"]], [303, "/console/sign-in"]);
});

test("signing out ends the sign-in at once", async (t) => {
  const { ask, signIn, get } = await openTestConsole(t);
  const headers = await signIn();
  assert.equal((await ask("sign-out", {}, headers)).status, 200);
  assert.equal((await ask("sign-out", {}, headers)).status, 401);
  assert.equal((await get("/console", { cookie: headers["cookie"] ?? "" })).status, 303);
});

test("rejects requests of other pages: foreign Host and Origin, no Origin, no header, no JSON", async (t) => {
  const { page, ask, signIn, port, resolutions, addQuestion } = await openTestConsole(t);
  addQuestion();
  const headers = await signIn();
  const body = { id: "apr_0", answer: "once", reason: "" };
  for (const [what, more, status] of [
    ["another site", { origin: "https://evil.example" }, 403],
    ["another port", { origin: "http://127.0.0.1:1" }, 403],
    ["the Origin null", { origin: "null" }, 403],
    ["another Host", { host: "evil.example" }, 403],
    ["text", { "content-type": "text/plain" }, 415],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }, 415],
  ] as const) {
    assert.equal((await ask("answer", body, { ...headers, ...more })).status, status, what);
  }
  const path = "/console/api/answer";
  assert.equal((await post({ port }, { path, headers, body: JSON.stringify(body) })).status, 403, "no Origin");
  const code = page.createCode();
  assert.equal((await ask("sign-in", { code, name: "" })).status, 403, "no header");
  assert.equal(resolutions.length, 0);
});

test("no GET returns data or changes anything", async (t) => {
  const { get, signIn, port } = await openTestConsole(t);
  const headers = await signIn();
  for (const name of ["live", "answer", "revoke", "input", "sign-in", "sign-out"]) {
    assert.equal((await get(`/console/api/${name}`, headers)).status, 404, name);
  }
  for (const method of ["HEAD", "PUT", "DELETE", "OPTIONS"]) {
    assert.equal((await post({ port }, { path: "/console", method })).status, 405, method);
  }
});

test("rejects bodies that are too large, not an object or not JSON", async (t) => {
  const { ask, signIn, refusals } = await openTestConsole(t);
  const headers = await signIn();
  assert.equal((await ask("answer", "x".repeat(17 * 1024), headers)).status, 413);
  for (const body of ["", "[]", '{"a":1,"a":2}', "{", '"x"', '{"id":1,"answer":"once","reason":""}']) {
    assert.equal((await ask("answer", body, headers)).status, 400, body);
  }
  assert.equal((await ask("answer", { id: "apr_0", answer: "always", reason: "" }, headers)).status, 400);
  assert.equal((await ask("input", { id: "apr_0", offset: -1 }, headers)).status, 400);
  assert.equal((await ask("nothing", {}, headers)).status, 404);
  assert.deepEqual(new Set(reasonsOf(refusals)), new Set(["console too_large", "console malformed"]));
});

test("a decision records the door and the name from the sign-in, or the kernel's user", async (t) => {
  const console = await openTestConsole(t);
  const named = await console.signIn("  Grace ");
  const unnamed = await console.signIn();
  console.addQuestion();
  console.addQuestion({ approvalId: "apr_1" });
  assert.equal((await console.ask("answer", { id: "apr_0", answer: "session", reason: "" }, named)).status, 200);
  assert.equal(
    (await console.ask("answer", { id: "apr_1", answer: "deny", reason: "not today" }, unnamed)).status,
    200,
  );
  assert.deepEqual(console.resolutions, [
    { approvalId: "apr_0", answer: "session", approver: "Grace", door: "console" },
    { approvalId: "apr_1", answer: "deny", approver: "operator", door: "console", reason: "not today" },
  ]);
});

test("tells the second person that the request was already decided", async (t) => {
  const console = await openTestConsole(t);
  const headers = await console.signIn();
  console.addQuestion();
  const answers = await Promise.all(
    ["once", "deny"].map((answer) => console.ask("answer", { id: "apr_0", answer, reason: "" }, headers)),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.match(answers.find(({ status }) => status === 409)?.body.toString() ?? "", /answered already/);
  assert.equal(console.resolutions.length, 1);
});

test("serves the page's files with their types, a strong ETag and a restrictive content security policy", async (t) => {
  const { get } = await openTestConsole(t);
  for (const [path, type] of [
    ["/console/sign-in", "text/html; charset=utf-8"],
    ["/console/console.css", "text/css; charset=utf-8"],
    ["/console/console.js", "text/javascript; charset=utf-8"],
  ] as const) {
    const answer = await get(path);
    assert.deepEqual([answer.status, answer.headers["content-type"]], [200, type]);
    const etag = String(answer.headers["etag"]);
    assert.match(etag, /^"[A-Za-z0-9_-]{43}"$/);
    assert.equal((await get(path, { "if-none-match": etag })).status, 304);
    assert.match(
      String(answer.headers["content-security-policy"]),
      /^default-src 'none'; script-src 'self';.* frame-ancestors 'none'$/,
    );
    assert.equal(answer.headers["x-content-type-options"], "nosniff");
    assert.equal(answer.headers["referrer-policy"], "no-referrer");
  }
});

test("no path leads outside the page's files", async (t) => {
  const { get } = await openTestConsole(t);
  for (const path of [
    "/console/../console.ts",
    "/console/page-files.ts",
    "/console/%2e%2e/console.ts",
    "/console/",
    "/consoles",
  ]) {
    const { status } = await get(path);
    assert.ok(status === 404 || status === 405, `${path}: ${status}`);
  }
});

test("serves no page on a unix socket, and only an administrator gets a link", async (t) => {
  const path = await socketPath(t);
  const { refusals } = await openTestConsole(t, { door: { listen: { path } } });
  const at = { socketPath: path };
  assert.equal((await post(at, { path: "/console", method: "GET" })).status, 405);
  for (const headers of [{}, { authorization: "Bearer read-token" }, { authorization: "Bearer wrong" }]) {
    assert.equal((await post(at, { path: "/console/link", headers })).status, 403);
  }
  assert.deepEqual(reasonsOf(refusals).slice(1), ["console TOKEN_INVALID", "console scope", "console TOKEN_INVALID"]);
  const given = await post(at, { path: "/console/link", headers: { authorization: "Bearer admin-token" } });
  assert.equal(given.status, 200);
  assert.match(given.body.toString(), /\/console\/sign-in\?code=[A-Za-z0-9_-]{43}"\}$/);
});
