import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { objectOf, parseObject, type TestHome, textOf } from "../cli/home.ts";

/** How a call ended. */
export interface CallAnswer {
  readonly status: "success" | "denied" | "error";
  readonly code: string;
  readonly message: string;
}

/** The page with somebody signed in, and everything that went wrong on it. */
export interface SignedInPage {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors of scripts, complaints of the browser and requests to anywhere else. */
  readonly problems: string[];
  /** The card of the question whose input holds this text, once it takes answers. */
  card(containing: string): Promise<Locator>;
  /** Presses a key on a card until it shows an effect. */
  press(card: Locator, key: string, effect: Locator, on?: Locator): Promise<void>;
}

/** How long the page may take to show something. */
const PATIENCE_MS = 15_000;
const EFFECT_MS = 1000;
const MOST_TRIES = 5;
const TAKING = ":not(.waiting):not(.ended)";

/** Calls a tool through the kernel's port, and waits as long as a person is asked. */
export async function callTool(origin: string, sessionToken: string, name: string, input: object): Promise<CallAnswer> {
  const call = { name, input: Buffer.from(JSON.stringify(input)).toString("base64") };
  const response = await fetch(`${origin}/narthex.v1.KernelService/Call`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ requestId: randomUUID(), sessionToken, call }),
  });
  const answer = parseObject(await response.text());
  if (answer["success"] !== undefined) return { status: "success", code: "", message: "" };
  if (answer["denied"] !== undefined) {
    const denied = objectOf(answer["denied"]);
    return { status: "denied", code: textOf(denied["rationaleCode"]), message: textOf(denied["message"]) };
  }
  const error = objectOf(answer["error"]);
  return { status: "error", code: textOf(error["errorCode"]), message: textOf(error["message"]) };
}

export async function signIn(browser: Browser, link: string, options: { name?: string; width?: number } = {}) {
  const { name = "", width = 1280 } = options;
  const context = await browser.newContext({ viewport: { width, height: 800 } });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const problems = watchProblems(page, new URL(link).origin);
  await page.goto(link);
  await page.fill("#name", name);
  await page.click("text=Sign in");
  await page.waitForURL("**/console");
  await page.locator("#connection", { hasText: "live" }).waitFor();
  return signedInPage(context, page, problems);
}

/** Another tab of the same browser. */
export async function openTab({ context, page: first }: SignedInPage): Promise<SignedInPage> {
  const page = await context.newPage();
  const problems = watchProblems(page, new URL(first.url()).origin);
  await page.goto(first.url());
  await page.locator("#connection", { hasText: "live" }).waitFor();
  return signedInPage(context, page, problems);
}

export async function freshLink(at: TestHome): Promise<string> {
  return textOf((await at.ask(["console"]))["link"]);
}

function signedInPage(context: BrowserContext, page: Page, problems: string[]): SignedInPage {
  return {
    context,
    page,
    problems,
    async card(containing) {
      const taking = page.locator(`.card${TAKING}`, { has: page.locator(".input", { hasText: containing }) });
      const id = await taking.getAttribute("data-approval");
      return page.locator(`[data-approval="${id}"]`);
    },
    async press(card, key, effect, on = card) {
      // A key pressed while cards move is not taken: then a person presses it again.
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        await card.and(page.locator(TAKING)).waitFor();
        await on.focus();
        await page.keyboard.press(key);
        if (await shows(effect)) return;
      }
      assert.fail(`the key ${key} does nothing`);
    },
  };
}

function watchProblems(page: Page, origin: string): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    // A request that is refused on purpose is noted by the browser as well.
    const isRefusal = /the server responded with a status of (?:401|403|409)/.test(message.text());
    if (message.type() === "error" && !isRefusal) problems.push(message.text());
  });
  page.on("dialog", (dialog) => {
    problems.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:" && url.origin !== origin) problems.push(`a request to ${url.href}`);
  });
  return problems;
}

function shows(effect: Locator): Promise<boolean> {
  return effect.waitFor({ timeout: EFFECT_MS }).then(
    () => true,
    () => false,
  );
}
