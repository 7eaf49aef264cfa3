import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
import { isKernelError, KernelError, type ToolResponse } from "@narthex/contracts";
import type { Kernel } from "@narthex/kernel";
import type { ByteBudget } from "../byte-budget.ts";
import { deniedSession, invalidRequest, isUndecodable, withRequestId } from "../refused-response.ts";
import { parseRequestHead } from "../request-head.ts";
import { ResponseWriter } from "./response-writer.ts";
import { ByteQueue } from "./byte-queue.ts";
import { FRAME_HEADER_BYTES, PREFACE } from "./frame.ts";
import { FrameMemory } from "./frame-memory.ts";
import { type FramedLimits, HEAD_BYTES, TOKEN_FIRST_ABOVE_BYTES, UNCHECKED_BYTES } from "./framed-limits.ts";

export interface FramedConnectionOptions {
  readonly kernel: Kernel;
  readonly socket: Socket;
  readonly limits: FramedLimits;
  /** Budget of all requests and responses in flight. */
  readonly budget: ByteBudget;
  /** Budget of unfinished frames without a known token. */
  readonly strangers: ByteBudget;
  /** Called when a request with a valid session token has arrived. */
  onAuthenticated(connection: FramedConnection): void;
  onClosed(connection: FramedConnection): void;
}

type Step = "preface" | "header" | "body" | "fill" | "discard";

/** Reasons for not reading; several may apply at once. */
const HOLD_BUDGET = 1;
const HOLD_TOKEN = 2;
const HOLD_CALLS = 4;
const HOLD_WRITES = 8;
const HOLD_ENDING = 16;

const DOOR = "framed";
const MB = 1024 * 1024;
/** How long a client may take to disconnect after its last response. */
const LINGER_MS = 2000;

/** One client of the framed door: reads bytes, runs calls, and sends responses in the order in which they are ready. */
export class FramedConnection {
  readonly #options: FramedConnectionOptions;
  readonly #socket: Socket;
  readonly #writer: ResponseWriter;
  readonly #memory: FrameMemory;
  readonly #queue = new ByteQueue();
  readonly #cancelled = new AbortController();
  #step: Step = "preface";
  #holds = 0;
  #advancing = false;
  /** Length of the frame being read. */
  #length = 0;
  #tokenLooked = false;
  #target: Uint8Array = new Uint8Array(0);
  #filled = 0;
  /** Time since which the preface or a frame is unfinished; 0 if none is. */
  #unfinishedSinceMs: number;
  #calls = 0;
  #known = false;
  /** Whether an unreadable frame got its response; further ones get none. */
  #undecodable = false;
  #peerEnded = false;
  #endedAtMs = 0;
  #closed = false;

  constructor(options: FramedConnectionOptions, nowMs: number) {
    this.#options = options;
    this.#socket = options.socket;
    this.#unfinishedSinceMs = nowMs;
    this.#memory = new FrameMemory(options.budget, options.strangers);
    this.#writer = new ResponseWriter({
      socket: options.socket,
      budget: options.budget,
      onBlocked: () => this.#hold(HOLD_WRITES),
      onFlushed: () => this.#endIfIdle(),
    });
    setMaxListeners(0, this.#cancelled.signal);
    this.#socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.#socket.on("drain", () => this.#release(HOLD_WRITES));
    this.#socket.on("end", () => this.#endedByPeer());
    this.#socket.on("error", () => this.destroy());
    this.#socket.on("close", () => this.#socketClosed());
  }

  /** Stops reading, lets running calls finish and disconnects. */
  end(): void {
    this.#hold(HOLD_ENDING);
    this.#endIfIdle();
  }

  /** Cancels running calls; their responses are still sent. */
  cancel(): void {
    this.#cancelled.abort();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Disconnects a client that takes too long. Called about once a second. */
  checkTimeouts(nowMs: number): void {
    const { limits } = this.#options;
    if (this.#endedAtMs > 0 && nowMs - this.#endedAtMs > LINGER_MS) return this.destroy();
    const waitingSinceMs = this.#writer.waitingSinceMs;
    if (waitingSinceMs > 0 && nowMs - waitingSinceMs > limits.writeTimeoutMs) {
      this.#refuse("reader_too_slow");
      return this.destroy();
    }
    // Time does not count while this side does not read.
    if (this.#unfinishedSinceMs === 0 || this.#holds !== 0) return;
    const unfinishedMs = nowMs - this.#unfinishedSinceMs;
    if (this.#step === "preface") {
      if (unfinishedMs <= limits.prefaceTimeoutMs) return;
      this.#refuse("preface_timeout");
      return this.destroy();
    }
    const extraMs = this.#step === "fill" ? (this.#length / MB) * 1000 : 0;
    if (unfinishedMs <= limits.frameTimeoutMs + extraMs) return;
    this.#fail("frame_timeout", "the frame was not finished in time; send it in one go");
  }

  #receive(chunk: Buffer): void {
    if ((this.#holds & HOLD_ENDING) !== 0) return;
    this.#queue.push(chunk);
    this.#advance();
  }

  #advance(): void {
    if (this.#advancing) return;
    this.#advancing = true;
    while (this.#holds === 0 && this.#readOn());
    this.#advancing = false;
    this.#noteUnfinished();
    if (this.#holds !== 0) return;
    if (this.#peerEnded) this.#finishAfterPeer();
    else this.#socket.resume();
  }

  /** Does the next piece of work; false if more bytes are needed first. */
  #readOn(): boolean {
    switch (this.#step) {
      case "preface":
        return this.#readPreface();
      case "header":
        return this.#readHeader();
      case "body":
        return this.#readBody();
      case "fill":
        return this.#fill();
      case "discard":
        return this.#discard();
    }
  }

  #readPreface(): boolean {
    const seen = this.#queue.peek(Math.min(this.#queue.length, PREFACE.length));
    if (!seen.every((byte, i) => byte === PREFACE[i])) {
      this.#refuse("bad_preface");
      this.#hold(HOLD_ENDING);
      this.destroy();
      return false;
    }
    if (seen.length < PREFACE.length) return false;
    this.#queue.drop(PREFACE.length);
    this.#nextFrame();
    return true;
  }

  #readHeader(): boolean {
    if (this.#queue.length < FRAME_HEADER_BYTES) return false;
    const length = this.#queue.peekUint32();
    const { maxFrameBytes } = this.#options.limits;
    if (length === 0) {
      this.#fail("empty_frame", "a frame holds one request; this one is empty");
      return false;
    }
    if (length > maxFrameBytes) {
      this.#fail("too_large", `a frame holds at most ${maxFrameBytes} bytes; this one says ${length}`);
      return false;
    }
    this.#queue.drop(FRAME_HEADER_BYTES);
    this.#length = length;
    this.#tokenLooked = false;
    this.#step = "body";
    return true;
  }

  #readBody(): boolean {
    const here = this.#queue.length;
    if (here >= this.#length) {
      this.#memory.releaseUnauthenticated();
      if (this.#charge()) this.#run(this.#queue.take(this.#length));
      return true;
    }
    if (here <= UNCHECKED_BYTES) return false;
    if (!this.#tokenLooked) {
      this.#lookAtToken();
      return true;
    }
    // SECURITY: unfinished unauthenticated frames share one small pool, which known sessions never need, so that a
    // flood of half frames cannot delay a valid call.
    if (!this.#memory.chargeUnauthenticated(here - UNCHECKED_BYTES)) {
      this.#fail("too_many_unfinished", "too many unfinished frames; start this one with its session_token");
    }
    return false;
  }

  /** SECURITY: only a valid token at the front of a large frame makes the kernel buffer it. */
  #lookAtToken(): void {
    this.#tokenLooked = true;
    const head = parseRequestHead(this.#queue.peek(Math.min(HEAD_BYTES, this.#queue.length)));
    if (head.sessionToken === "") {
      if (this.#length <= TOKEN_FIRST_ABOVE_BYTES) return;
      this.#fail("token_not_first", "a frame above 1 MB starts with request_id and session_token", "session_token");
      return;
    }
    this.#hold(HOLD_TOKEN);
    this.#options.kernel.authenticate(head.sessionToken).then(
      () => {
        if (this.#closed) return;
        if (this.#charge()) this.#startFilling();
        this.#release(HOLD_TOKEN);
      },
      (fault: unknown) => {
        if (this.#closed) return;
        const denial = isKernelError(fault) ? fault : new KernelError("INTERNAL", "the token could not be checked");
        this.#refuse(denial.code);
        this.#writer.send(deniedSession(denial, head.requestId));
        this.#step = "discard";
        this.#release(HOLD_TOKEN);
      },
    );
  }

  /** Acquires this frame's bytes from the budget; false if that has to wait. */
  #charge(): boolean {
    const charged = this.#memory.charge(this.#length, () => {
      if (this.#queue.length < this.#length) this.#startFilling();
      this.#release(HOLD_BUDGET);
    });
    if (!charged) this.#hold(HOLD_BUDGET);
    return charged;
  }

  #startFilling(): void {
    // Safe without zeroing: every byte is written before the frame is used.
    this.#target = Buffer.allocUnsafeSlow(this.#length);
    this.#filled = 0;
    this.#step = "fill";
  }

  #fill(): boolean {
    this.#filled += this.#queue.moveTo(this.#target, this.#filled);
    if (this.#filled < this.#length) return false;
    const frame = this.#target;
    this.#target = new Uint8Array(0);
    this.#run(frame);
    return true;
  }

  #discard(): boolean {
    const count = Math.min(this.#queue.length, this.#length);
    this.#queue.drop(count);
    this.#length -= count;
    if (this.#length > 0) return false;
    this.#nextFrame();
    return true;
  }

  #run(frame: Uint8Array): void {
    const charged = this.#memory.handOver();
    this.#nextFrame();
    this.#calls++;
    if (this.#calls >= this.#options.limits.maxCallsPerConnection) this.#hold(HOLD_CALLS);
    this.#options.kernel.call({ request: frame, door: DOOR, signal: this.#cancelled.signal }).then(
      (response) => this.#answer(withRequestId(response, frame), charged),
      () => {
        this.#options.budget.release(charged);
        this.destroy();
      },
    );
  }

  #nextFrame(): void {
    this.#step = "header";
    this.#unfinishedSinceMs = 0;
  }

  #answer(response: ToolResponse, charged: number): void {
    this.#calls--;
    if (this.#closed) {
      // No client is left to respond to.
    } else if (isUndecodable(response)) {
      response.requestId = "";
      if (!this.#undecodable) this.#writer.send(response);
      this.#undecodable = true;
      this.end();
    } else {
      if (!this.#known && hasSessionToken(response)) {
        this.#known = true;
        this.#options.onAuthenticated(this);
      }
      this.#writer.send(response);
    }
    this.#options.budget.release(charged);
    if ((this.#holds & HOLD_CALLS) !== 0) this.#release(HOLD_CALLS);
  }

  /** Sends one response without an id, then closes the connection. */
  #fail(reason: string, message: string, field = "frame"): void {
    this.#refuse(reason);
    const rule = field === "frame" ? "malformed" : "format";
    this.#writer.send(invalidRequest(message, [{ field, rule, message }]));
    this.end();
  }

  #refuse(reason: string): void {
    const bytes = this.#queue.peek(Math.min(HEAD_BYTES, this.#queue.length));
    this.#options.kernel.refuse({ door: DOOR, reason, bytes });
  }

  #endIfIdle(): void {
    const ending = (this.#holds & HOLD_ENDING) !== 0;
    if (!ending || this.#calls > 0 || this.#writer.pending || this.#endedAtMs > 0) return;
    this.#endedAtMs = Date.now();
    this.#socket.end();
    // Further input is read and discarded, so that the client gets to read its response.
    this.#socket.resume();
  }

  /**
   * SPEC: docs/formats/wire.md. A client that stops sending cancels its pending requests, and still gets their
   * responses.
   */
  #endedByPeer(): void {
    this.#cancelled.abort();
    this.#peerEnded = true;
    if (this.#holds === 0) this.#finishAfterPeer();
  }

  #finishAfterPeer(): void {
    const midFrame = this.#step !== "header" || this.#queue.length > 0;
    if (midFrame && this.#step !== "preface") this.#fail("truncated_frame", "the connection ended inside a frame");
    else this.end();
  }

  #socketClosed(): void {
    this.#closed = true;
    this.#holds |= HOLD_ENDING;
    this.#cancelled.abort();
    this.#memory.release();
    this.#target = new Uint8Array(0);
    this.#queue.drop(this.#queue.length);
    this.#options.onClosed(this);
  }

  #noteUnfinished(): void {
    if (this.#step === "preface" || (this.#step === "header" && this.#queue.length === 0)) return;
    if (this.#unfinishedSinceMs === 0) this.#unfinishedSinceMs = Date.now();
    if (this.#queue.length <= UNCHECKED_BYTES) this.#queue.compact();
  }

  #hold(reason: number): void {
    this.#holds |= reason;
    if (this.#endedAtMs === 0) this.#socket.pause();
  }

  #release(reason: number): void {
    const wasHeld = (this.#holds & reason) !== 0;
    this.#holds &= ~reason;
    if (!wasHeld || this.#holds !== 0 || this.#closed) return;
    if (this.#unfinishedSinceMs > 0) this.#unfinishedSinceMs = Date.now();
    this.#advance();
  }
}

/** Whether a response implies that the request carried a valid session token. */
function hasSessionToken(response: ToolResponse): boolean {
  switch (response.result.case) {
    case "success":
      return true;
    case "denied":
      return response.result.value.rationaleCode !== "SESSION_UNKNOWN";
    case "error":
      return response.result.value.errorCode !== "INVALID_REQUEST";
    default:
      return false;
  }
}
