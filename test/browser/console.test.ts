import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { after, before, describe, it } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { createTestHome, objectsOf, type Serving, type TestHome, textOf } from "../cli/home.ts";
import { launchChromium } from "./chromium.ts";
import { callTool, freshLink, openTab, type SignedInPage, signIn } from "./console-page.ts";

const EVIL_AGENT = `<img src=x onerror="alert('agent')">`;
/** Bidi override, zero-width space, Cyrillic i, no-break space; ends with a comment, so that it runs. */
const DECEIVING = "echo d\u0456d \u202enur\u200b\u00a0# <script>alert('command')</script>";

/** Clicks on every card the moment it appears, and presses its key. */
const HASTY_HAND = `
  const list = document.getElementById("cards");
  new MutationObserver(() => {
    for (const card of list.querySelectorAll(".card")) {
      card.querySelector("[data-answer=once]")?.click();
      card.focus();
      card.dispatchEvent(new KeyboardEvent("keydown", { key: "o", bubbles: true }));
    }
  }).observe(list, { childList: true });
`;

describe("the console in a real browser", { timeout: 120_000 }, () => {
  let at: TestHome;
  let kernel: Serving;
  let browser: Browser;
  let session = { id: "", token: "" };
  let origin = "";
  let console: SignedInPage;

  before(async () => {
    at = await createTestHome();
    [kernel, browser] = await Promise.all([at.serve(), launchChromium()]);
    origin = textOf(kernel.ready["listen"]);
    session = await at.openSession("--agent", EVIL_AGENT, "--user", "alice", "--adopt");
    console = await signIn(browser, textOf(kernel.ready["console"]), { name: "Grace" });
  });
  after(async () => {
    await browser.close();
    await at.remove();
  });

  const call = (command: string, of = session) => callTool(origin, of.token, "shell_exec", { command });

  it("signs in by the printed link, once, and leaves no code behind", async () => {
    const { page, context } = console;
    assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, "/console");
    assert.match((await page.textContent("#approver")) ?? "", /Grace/);
    const [cookie] = await context.cookies();
    assert.deepEqual(
      [cookie?.name, cookie?.httpOnly, cookie?.sameSite, cookie?.path],
      ["narthex_console", true, "Strict", "/console"],
    );
    assert.equal(await page.evaluate("document.cookie"), "");
    const other = await (await browser.newContext()).newPage();
    await other.goto(origin);
    assert.match(other.url(), /\/console\/sign-in$/, "the root leads to the console");
    assert.deepEqual(await outsideOf(other, "#no-code"), []);
    await other.goto(textOf(kernel.ready["console"]));
    for (const width of [320, 800, 1280, 1920]) {
      await other.setViewportSize({ width, height: 800 });
      assert.deepEqual(await outsideOf(other, "#form"), [], `at ${width}`);
    }
    assert.doesNotMatch(other.url(), /code=/);
    await other.click("text=Sign in");
    await other.locator("#problem", { hasText: "was used" }).waitFor();
    await other.goto(new URL("/console", other.url()).href);
    await other.locator("code", { hasText: "narthex console" }).waitFor();
    assert.match(other.url(), /\/console\/sign-in$/);
    await other.context().close();
  });

  it("shows what to do when nothing is pending, and the current policy", async () => {
    await console.page.locator("text=No questions are open.").waitFor();
    assert.match((await console.page.textContent("#policy")) ?? "", /^\d+ rules\s*enforce/);
  });

  it("marks hidden and lookalike text, runs no markup, and accepts an approval by key", async () => {
    const asked = call(DECEIVING);
    const card = await console.card("echo d");
    const shown = (await card.locator(".field pre").first().innerText()).replaceAll("\n", "");
    assert.equal(shown, "echo d\u0456U+0456d U+202EnurU+200BU+00A0# <script>alert('command')</script>");
    const marks = await card.locator(".field mark").all();
    const kinds = await Promise.all(marks.map((mark) => mark.getAttribute("class")));
    assert.deepEqual(kinds, ["lookalike", "hidden", "hidden", "blank"]);
    await card.locator("text=2 hidden characters, 1 lookalike, 1 unusual blank").waitFor();
    await card.locator("dd", { hasText: EVIL_AGENT }).waitFor();
    assert.equal(await console.page.locator("img, main script").count(), 0);

    await console.page.keyboard.press("o");
    await answersNothing(card);
    await console.page.keyboard.press("j");
    assert.ok(await hasFocus(card));
    await console.press(card, "o", ended(card));
    assert.equal((await asked).status, "success");
    assert.deepEqual(console.problems, []);
    const { records } = await at.ask(["ledger", "list", "--session", session.id, "--limit", "5"]);
    assert.match(JSON.stringify(records), /"approver":"Grace"/);
    assert.match(JSON.stringify(records), /"door":"console"/);
  });

  it("shows the exact JSON to the last character, and the size of what is cut", async () => {
    const tail = "the-very-end";
    const asked = call(`echo ${"y".repeat(40_000)} ${tail}`);
    const card = await console.card("yyyy");
    await card.locator("text=/Cut: \\d+ of 40\\d+ characters are shown/").waitFor();
    const canAllow = async () => (await card.locator("[data-answer=once]").getAttribute("aria-disabled")) === "false";
    await card.locator("[data-answer=deny][aria-disabled=false]").waitFor();
    assert.equal(await canAllow(), false, "what was not shown cannot be agreed to");
    await card.locator("summary", { hasText: "Exact JSON, 39.1 KB" }).click();
    await card.locator("text=/^32768 of 40/").waitFor();
    await card.locator("button", { hasText: "Show more" }).click();
    await card.locator("text=/^all 40/").waitFor();
    assert.equal(await canAllow(), true);
    assert.match((await card.locator(".json pre").textContent()) ?? "", new RegExp(`${tail}"\\}$`));
    await card.locator("[data-answer=deny]").click();
    await card.locator("form .danger").click();
    assert.equal((await asked).status, "denied");
  });

  it("denies by mouse, with a reason that the agent receives", async () => {
    const asked = call("touch denied.txt");
    const card = await console.card("denied.txt");
    await card.locator("[data-answer=deny]").click();
    await card.locator("#reason").fill("ask <b>Ada</b> first");
    await card.locator("form .danger").click();
    const { status, code, message } = await asked;
    assert.deepEqual([status, code], ["denied", "APPROVAL_DENIED"]);
    assert.match(message, /ask <b>Ada<\/b> first/);
  });

  it("grants a session approval as described, and revokes it", async () => {
    const first = call("touch made.txt");
    const card = await console.card("made.txt");
    await card.locator(".scope", { hasText: /touch.*made\.txt/ }).waitFor();
    await card.locator("[data-answer=session]").click();
    assert.equal((await first).status, "success");
    assert.equal((await call("touch made.txt")).status, "success");
    const standing = console.page.locator("#standing li", { hasText: "made.txt" });
    await standing.locator("button").click();
    await standing.waitFor({ state: "detached" });
    const again = call("touch made.txt");
    const asked = await console.card("made.txt");
    await console.press(asked, "d", asked.locator("#reason"));
    await console.page.keyboard.press("Enter");
    assert.equal((await again).status, "denied");
  });

  it("writes a rule only after it was shown and confirmed", async () => {
    const before = String((await at.ask(["policy", "show"]))["rule_count"]);
    const first = call("mkdir -p ruled");
    const card = await console.card("mkdir -p ruled");
    const rule = card.locator(".rule-text", { hasText: "permit" });
    await console.press(card, "r", rule);
    await console.page.keyboard.press("Escape");
    assert.equal(await rule.count(), 0);
    await answersNothing(card);
    await console.press(card, "r", rule);
    await card.locator("button", { hasText: "Write this rule" }).click();
    assert.equal((await first).status, "success");
    const other = await at.openSession("--agent", EVIL_AGENT, "--adopt");
    // The first call goes on as soon as the answer is recorded; the rule is in force a little later.
    while (String((await at.ask(["policy", "show"]))["rule_count"]) === before) await setTimeout(50);
    assert.equal((await call("mkdir -p ruled", other)).status, "success");
    const standing = console.page.locator("#standing li", { hasText: "every session" });
    await standing.locator("button").click();
    await standing.waitFor({ state: "detached" });
  });

  it("offers no session approval where a rule asks for every call, and shows what a rule would override", async () => {
    const rules = join(at.home, "policy", "browser.cedar");
    const asks = (id: string, tool: string, approve: string) =>
      `@id("${id}") @approve("${approve}") permit(principal, action == Action::"${tool}", resource);`;
    await writeFile(rules, [asks("always-hash", "hash", "always"), asks("never-echo", "echo", "human")].join("\n"));
    await at.ask(["policy", "reload"]);
    await console.page.locator(".banner", { hasText: /never-echo.*never asks.*without-effects/ }).waitFor();
    const waiting = callTool(origin, session.token, "hash", { data: "every" });
    const card = await console.card("every");
    await card.locator(".scope", { hasText: "always-hash asks for every such call" }).waitFor();
    assert.equal(await card.locator("[data-answer=session]").getAttribute("aria-disabled"), "true");
    await console.press(card, "r", card.locator(".lifts", { hasText: "It lifts always-hash" }));
    await console.page.keyboard.press("Escape");
    await console.press(card, "d", card.locator("#reason"));
    await console.page.keyboard.press("Enter");
    assert.equal((await waiting).status, "denied");
    await rm(rules);
    await at.ask(["policy", "reload"]);
    await console.page.locator(".banner").waitFor({ state: "detached" });
  });

  it("ignores a click or key meant for the previous request", async () => {
    await console.page.evaluate(HASTY_HAND);
    const asked = call("touch hasty.txt");
    const card = await console.card("hasty.txt");
    await answersNothing(card);
    await card.locator("[data-answer=deny]").click();
    await card.locator("form .danger").click();
    assert.equal((await asked).status, "denied");
    await console.page.reload();
  });

  it("does not take text typed into a denial as a decision on the next request", async () => {
    const { page } = console;
    const [first, second] = [call("touch typed-one.txt"), call("touch typed-two.txt")];
    const card = await console.card("typed-one");
    const other = await console.card("typed-two");
    await card.focus();
    await page.keyboard.press("d");
    await page.keyboard.type("no");
    const id = (await card.getAttribute("data-approval")) ?? "";
    assert.equal((await at.run(["approvals", "deny", id])).code, 0);
    await first;
    await page.keyboard.type(" so do this instead, soon", { delay: 60 });
    await setTimeout(700);
    await page.keyboard.type("os");
    assert.equal(await other.isVisible(), true, "it is still a question");
    await other.locator("[data-answer=deny]").click();
    await other.locator("form .danger").click();
    assert.equal((await second).status, "denied");
  });

  it("tells the second of two tabs that the request was already decided", async () => {
    const second = await openTab(console);
    const asked = call("touch twice.txt");
    const [one, two] = [await console.card("twice.txt"), await second.card("twice.txt")];
    const id = await one.getAttribute("data-approval");
    await one.locator("[data-answer=once]").click();
    await two.locator("text=/answered already/i").waitFor();
    assert.equal(await two.locator("button").count(), 0);
    assert.equal((await asked).status, "success");
    const late = await second.page.evaluate(`
      import("/console/connection.js")
        .then(({ ask }) => ask("answer", { id: "${id}", answer: "deny", reason: "" }))
        .catch((error) => error.message)
    `);
    assert.match(String(late), /by `Grace` at door `console` already/);
    await second.page.close();
  });

  it("shows calls as they end, filtered by session and text, and pauses", async () => {
    const { page } = console;
    const lines = page.locator("#calls .call");
    await callTool(origin, session.token, "echo", { text: "<b>bold</b>" });
    await lines.first().locator("strong[title^='echo@']").waitFor();
    const [line] = await lines.first().locator(".call-subject, .caller").allInnerTexts();
    assert.equal(line, '{"text":"<b>bold</b>"}');
    assert.match(
      await lines.first().locator(".caller").innerText(),
      new RegExp(`^${RegExp.escape(EVIL_AGENT)} for alice …`),
    );
    await lines
      .filter({ has: page.locator(".call-subject", { hasText: "touch made.txt" }) })
      .first()
      .waitFor();
    await lines.filter({ hasText: "asked, allowed" }).filter({ hasText: "answered by Grace" }).first().waitFor();
    await lines.filter({ hasText: "asked, denied" }).filter({ hasText: "APPROVAL_DENIED" }).first().waitFor();
    await page.fill("#text-filter", "echo@");
    assert.equal(await lines.count(), 1);
    await page.fill("#text-filter", "nothing-like-this");
    await page.locator("text=No call matches the filter.").waitFor();
    await page.fill("#text-filter", "");
    await page.click("#pause");
    const shown = await lines.count();
    const other = await at.openSession();
    await callTool(origin, other.token, "hash", { data: "x" });
    await page.locator("#pause", { hasText: "Resume (1 new)" }).waitFor();
    assert.equal(await lines.count(), shown);
    await page.click("#pause");
    await lines.first().locator("strong", { hasText: "hash" }).waitFor();
    await page.selectOption("#session-filter", other.id);
    assert.equal(await lines.count(), 1);
    await page.selectOption("#session-filter", "");
  });

  it("fits a phone: no horizontal scrolling, buttons large enough to touch", async () => {
    const asked = call(`touch ${"a-long-name-".repeat(30)}\t\u202e.txt`);
    for (const width of [320, 360, 400]) {
      await console.page.setViewportSize({ width, height: 740 });
      const card = await console.card("a-long-name-");
      const tooWide = await console.page.evaluate("document.documentElement.scrollWidth - window.innerWidth");
      assert.equal(tooWide, 0, `at ${width}`);
      const buttons = await card.locator(".answers button").all();
      const boxes = await Promise.all(buttons.map((button) => button.boundingBox()));
      assert.deepEqual(
        boxes.map((box) => (box?.height ?? 0) >= 44),
        [true, true, true, true],
      );
    }
    const card = await console.card("a-long-name-");
    await card.locator("[data-answer=deny]").click();
    await card.locator("form .danger").click();
    assert.equal((await asked).status, "denied");
    await console.page.setViewportSize({ width: 1280, height: 800 });
  });

  it("lists its keys, and moves between requests with them", async () => {
    const { page } = console;
    const calls = [call("touch key-one.txt"), call("touch key-two.txt")];
    const [one, two] = [await console.card("key-one"), await console.card("key-two")];
    await page.keyboard.press("?");
    await page.locator("#help[open]").waitFor();
    await page.keyboard.press("o");
    await page.keyboard.press("Escape");
    await page.locator("#questions").focus();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    assert.ok(await hasFocus(page.locator(".card:not(.ended)").first()));
    for (const card of [one, two]) {
      const reason = card.locator("#reason");
      await console.press(card, "d", reason);
      await console.press(card, "Enter", ended(card), reason);
    }
    for (const { status } of await Promise.all(calls)) assert.equal(status, "denied");
  });

  it("redirects to the sign-in when the cookie has expired", async () => {
    const stale = await signIn(browser, await freshLink(at));
    const second = await openTab(stale);
    await second.page.click("#sign-out");
    await second.page.waitForURL("**/console/sign-in");
    await stale.page.waitForURL("**/console/sign-in");
    await stale.context.addCookies([
      { name: "narthex_console", value: "A".repeat(43), url: new URL("/console", stale.page.url()).href },
    ]);
    await stale.page.goto(new URL("/console", stale.page.url()).href);
    assert.match(stale.page.url(), /\/console\/sign-in$/);
    await stale.context.close();
  });

  it("has caused no browser error at the end", async () => {
    assert.deepEqual(console.problems, []);
    const { problems } = await at.ask(["ledger", "verify"]);
    assert.deepEqual(objectsOf(problems), []);
    assert.equal(await kernel.stop(), 0);
  });
});

/** The tags of the parts of a box that hang out of it. */
function outsideOf(page: Page, selector: string): Promise<unknown> {
  return page.evaluate(`
    (() => {
      const root = document.querySelector(${JSON.stringify(selector)});
      const outer = root.getBoundingClientRect();
      const isOutside = (part) => {
        const { left, right } = part.getBoundingClientRect();
        return left < outer.left || right > outer.right;
      };
      return [...root.querySelectorAll("*")].filter(isOutside).map(({ tagName }) => tagName);
    })()
  `);
}

async function hasFocus(card: Locator): Promise<boolean> {
  return (await card.and(card.page().locator(":focus")).count()) === 1;
}

function ended(card: Locator): Locator {
  return card.and(card.page().locator(".ended"));
}

/** The question is still there, and so is every button. */
async function answersNothing(card: Locator): Promise<void> {
  assert.equal(await card.locator("[data-answer]").count(), 4);
}
