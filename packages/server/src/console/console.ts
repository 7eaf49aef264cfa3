import { isKernelError } from "@narthex/contracts";
import type { Logger } from "@narthex/kernel";
import type { NodeRequest, NodeResponse } from "../service/http-listener.ts";
import { createConsoleApi } from "./console-api.ts";
import type { ConsoleKernel } from "./console-kernel.ts";
import { type ConsoleLimits, DEFAULT_CONSOLE_LIMITS } from "./console-limits.ts";
import { ConsoleRefusal } from "./console-refusal.ts";
import { createFailureLimit } from "./failure-limit.ts";
import { readPageFiles, sendPageFile } from "./page-files.ts";
import { setPageHeaders } from "./page-headers.ts";
import { readJsonBody, textField } from "./read-json-body.ts";
import { SECRET_FORM } from "./secret.ts";
import { createSignInCodes } from "./sign-in-codes.ts";
import { createSignIns, type SignedIn } from "./sign-ins.ts";

/** The web page on which users decide approvals and watch calls. */
export interface Console {
  /** Creates a code that signs one user in, once and only for a short time. */
  createCode(): string;
  serve(request: NodeRequest, response: NodeResponse, exchange: ConsoleExchange): void;
}

export interface ConsoleExchange {
  readonly path: string;
  readonly isTls: boolean;
  /** Aborts when the client has disconnected, or the door closes. */
  readonly signal: AbortSignal;
}

export interface ConsoleOptions {
  readonly kernel: ConsoleKernel;
  readonly version: string;
  /** Approver's name if none was given at sign-in. */
  readonly defaultApprover: string;
  readonly limits?: Partial<ConsoleLimits>;
  readonly log?: Logger;
  readonly nowMs?: () => number;
}

const DOOR = "console";
const COOKIE = "narthex_console";
const KEY_HEADER = "x-narthex-console";
/** Path of the page. */
export const CONSOLE_PATH = "/console";
const API = `${CONSOLE_PATH}/api/`;
const SIGN_IN_PAGE = `${CONSOLE_PATH}/sign-in`;
const MAX_NAME = 128;

/** Whether a path belongs to the console. */
export function isConsolePath(path: string): boolean {
  return path === CONSOLE_PATH || path.startsWith(`${CONSOLE_PATH}/`);
}

export async function createConsole(options: ConsoleOptions): Promise<Console> {
  const { kernel, defaultApprover, version, log, nowMs = Date.now } = options;
  const limits: ConsoleLimits = { ...DEFAULT_CONSOLE_LIMITS, ...options.limits };
  const files = await readPageFiles();
  const codes = createSignInCodes({ ttlMs: limits.codeTtlMs, maxCodes: limits.maxCodes, nowMs });
  const signIns = createSignIns({ ttlMs: limits.signInTtlMs, maxSignIns: limits.maxSignIns, nowMs });
  const failures = createFailureLimit(limits.maxFailuresPerMinute, nowMs);
  const api = createConsoleApi({ kernel, limits, signIns, version, nowMs });

  function serve(request: NodeRequest, response: NodeResponse, exchange: ConsoleExchange): void {
    setPageHeaders(response);
    if (request.method === "GET") serveFile(request, response, exchange.path);
    else
      servePost(request, response, exchange).catch((fault: unknown) => {
        if (!response.headersSent) refuse(request, response, fault);
        else response.destroy();
      });
  }

  /**
   * SECURITY: no GET returns data or changes anything, least of all the one of a sign-in link, because link previews
   * follow links.
   */
  function serveFile(request: NodeRequest, response: NodeResponse, path: string): void {
    if (path === CONSOLE_PATH && !signIns.hasCookie(readCookie(request))) {
      response.statusCode = 303;
      response.setHeader("location", SIGN_IN_PAGE);
      response.end();
      return;
    }
    const file = files.get(fileNameOf(path));
    if (file === undefined) refuse(request, response, new ConsoleRefusal(404, "", "no such page"));
    else sendPageFile(request, response, file);
  }

  async function servePost(request: NodeRequest, response: NodeResponse, exchange: ConsoleExchange): Promise<void> {
    const name = exchange.path.startsWith(API) ? exchange.path.slice(API.length) : "";
    // SECURITY: the guard has refused foreign origins; a request without an origin does not come from this page.
    if (request.headers.origin === undefined) throw new ConsoleRefusal(403, "bad_origin", "use the console's page");
    if (name === "sign-in") return signIn(request, response, exchange);
    const method = api.get(name);
    if (method === undefined) throw new ConsoleRefusal(404, "", "no such request");
    const by = signedIn(request);
    const body = await readJsonBody(request, limits);
    const answer = await method({ request, response, body, by, signal: exchange.signal });
    if (answer !== undefined) sendJson(response, 200, answer);
  }

  function signedIn(request: NodeRequest): SignedIn {
    const key = request.headers[KEY_HEADER];
    const by = typeof key === "string" ? signIns.find(readCookie(request), key) : undefined;
    if (by === undefined)
      throw new ConsoleRefusal(401, "not_signed_in", "sign in again: `narthex console` prints a link");
    return by;
  }

  async function signIn(request: NodeRequest, response: NodeResponse, { isTls }: ConsoleExchange): Promise<void> {
    // SECURITY: no other page can set this header, so no other page can sign a browser in as another user.
    if (request.headers[KEY_HEADER] === undefined) throw new ConsoleRefusal(403, "no_header", "use the console's page");
    const body = await readJsonBody(request, limits);
    const code = textField(body, "code", MAX_NAME);
    const name = textField(body, "name", MAX_NAME).trim();
    if (!SECRET_FORM.test(code) || !codes.redeem(code)) {
      if (!failures.count()) throw new ConsoleRefusal(429, "too_many_sign_ins", "too many wrong codes; wait a minute");
      throw new ConsoleRefusal(
        403,
        "bad_code",
        "this link was used, is older than ten minutes or is wrong; `narthex console` prints another",
      );
    }
    const { cookie, key } = signIns.create(name === "" ? defaultApprover : name);
    const secure = isTls ? "; Secure" : "";
    const maxAge = Math.floor(limits.signInTtlMs / 1000);
    const flags = `Path=${CONSOLE_PATH}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
    response.setHeader("set-cookie", `${COOKIE}=${cookie}; ${flags}`);
    sendJson(response, 200, { key });
  }

  function refuse(request: NodeRequest, response: NodeResponse, fault: unknown): void {
    const { status, code, message, reason } = problemOf(fault);
    if (reason !== "") kernel.refuse({ door: DOOR, reason });
    if (status === 500) log?.("error", "the console failed", { error: fault instanceof Error ? fault.message : "" });
    // The unread rest of a body must not be parsed as the next request.
    if (request.httpVersionMajor === 1 && !request.complete) response.setHeader("connection", "close");
    sendJson(response, status, { error: { code, message } });
  }

  return { createCode: () => codes.create(), serve };
}

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly reason: string;
}

function problemOf(fault: unknown): Problem {
  if (fault instanceof ConsoleRefusal) {
    const { status, reason, message } = fault;
    return { status, code: reason, message, reason };
  }
  // The kernel records its refusals itself.
  if (isKernelError(fault)) return { status: 409, code: fault.code, message: fault.message, reason: "" };
  return { status: 500, code: "INTERNAL", message: "something went wrong; see the kernel's log", reason: "" };
}

function sendJson(response: NodeResponse, status: number, value: object): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json; charset=utf-8");
  response.end(JSON.stringify(value));
}

function fileNameOf(path: string): string {
  if (path === CONSOLE_PATH) return "console.html";
  return path === SIGN_IN_PAGE ? "sign-in.html" : path.slice(CONSOLE_PATH.length + 1);
}

function readCookie(request: NodeRequest): string {
  for (const part of (request.headers.cookie ?? "").split(";")) {
    const [name, value = ""] = part.trim().split("=", 2);
    if (name === COOKIE) return value;
  }
  return "";
}
