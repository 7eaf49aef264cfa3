import { KernelError } from "@narthex/contracts";
import { checkOptions, type OptionKinds } from "@narthex/kernel";
import type { CallDelta, DeltaReader, StreamedCall } from "./call-delta.ts";
import { splitConcatenatedObjects } from "./split-concatenated-objects.ts";

export interface AccumulatorOptions {
  readonly maxCalls?: number;
  /** Maximum for all arguments, names and ids together. */
  readonly maxCharacters?: number;
  /** Creates an id for a call that arrived without one. */
  readonly newId?: () => string;
}

/** A call under construction. */
interface OpenCall {
  index: number | undefined;
  key: string;
  id: string;
  name: string;
  readonly pieces: { readonly text: string; readonly sequence: number | undefined }[];
  whole: string | undefined;
  isForeign: boolean;
}

const KINDS: OptionKinds<AccumulatorOptions> = { maxCalls: "amount?", maxCharacters: "amount?", newId: "function?" };
const MAX_CALLS = 128;
const MAX_CHARACTERS = 8 * 1024 * 1024;
/** Cost of a piece besides its characters: many empty pieces take memory as well. */
const PIECE_COST = 16;
/** Name for a call without one, so that the model can be told that there is no such tool. */
const NAMELESS = "unnamed_tool";

/**
 * Rebuilds the tool calls of one message from the pieces in which a provider streams them.
 *
 * SECURITY: a stream is written by a model and relayed by servers of all kinds. Whatever arrives, memory is bounded, no
 * piece is added to another call, and the only error is a KernelError: RESOURCE_EXCEEDED, or UPSTREAM_ERROR for an
 * error that the provider itself reports.
 */
export class ToolCallAccumulator {
  readonly #read: DeltaReader;
  readonly #maxCalls: number;
  readonly #maxCharacters: number;
  readonly #newId: () => string;
  readonly #calls: OpenCall[] = [];
  readonly #byIndex = new Map<number, OpenCall>();
  readonly #byKey = new Map<string, OpenCall>();
  readonly #byId = new Map<string, OpenCall>();
  readonly #sequences = new Set<number>();
  #characters = 0;

  constructor(read: DeltaReader, options: AccumulatorOptions = {}) {
    checkOptions(options, KINDS, "ToolCallAccumulator");
    this.#read = read;
    this.#maxCalls = options.maxCalls ?? MAX_CALLS;
    this.#maxCharacters = options.maxCharacters ?? MAX_CHARACTERS;
    this.#newId = options.newId ?? (() => `call_${crypto.randomUUID().replaceAll("-", "")}`);
  }

  /** Adds one event of the stream, as it arrived. */
  push(event: unknown): void {
    for (const delta of this.#read(event)) this.#add(delta);
  }

  /** Returns the calls of the message in order, each with a unique id. */
  finish(): StreamedCall[] {
    const ids = new Set<string>();
    const unused = (wanted: string): string => {
      let id = wanted;
      while (id === "" || ids.has(id)) id = this.#newId();
      ids.add(id);
      return id;
    };
    const calls = this.#inOrder().flatMap((call) => {
      const texts = splitConcatenatedObjects(textOf(call), this.#maxCalls);
      return texts.map((text, at) => ({ wantedId: at === 0 ? call.id : "", name: call.name || NAMELESS, text }));
    });
    if (calls.length > this.#maxCalls) throw tooMany(this.#maxCalls);
    // Provided ids are reserved first, so that no generated id equals one of them.
    const given = calls.map(({ wantedId }) => (wantedId === "" || ids.has(wantedId) ? "" : unused(wantedId)));
    return calls.map(({ name, text }, at) => ({ id: given[at] || unused(""), name, arguments: text }));
  }

  #add(delta: CallDelta): void {
    const { text, whole, name, id, key, sequence } = delta;
    if (sequence !== undefined && this.#sequences.has(sequence)) return;
    this.#spend([text, whole, name, id, key]);
    if (sequence !== undefined) this.#sequences.add(sequence);
    const call = this.#find(delta) ?? this.#open();
    this.#identify(call, delta);
    if (whole !== undefined) call.whole = whole;
    else if (text !== undefined && text !== "") call.pieces.push({ text, sequence });
  }

  #find({ index, key, id, name, isOther }: CallDelta): OpenCall | undefined {
    const byKey = key === undefined ? undefined : this.#byKey.get(key);
    if (byKey !== undefined) return byKey;
    const byId = id === undefined ? undefined : this.#byId.get(id);
    if (index === undefined) {
      if (id !== undefined || key !== undefined || isOther === true) return byId;
      const last = this.#calls.at(-1);
      return name !== undefined && last !== undefined && isStarted(last) ? undefined : last;
    }
    const atIndex = this.#byIndex.get(index);
    if (atIndex === undefined) return byId?.index === undefined ? byId : undefined;
    // Some servers give every call the same index; then ids, or else names, distinguish them.
    if (key !== undefined && atIndex.key !== "" && atIndex.key !== key) return undefined;
    if (id !== undefined && atIndex.id !== "" && atIndex.id !== id) return byId?.index === index ? byId : undefined;
    const isRenamed = name !== undefined && atIndex.name !== "" && atIndex.name !== name && isStarted(atIndex);
    return id === undefined && key === undefined && isRenamed ? undefined : atIndex;
  }

  #open(): OpenCall {
    if (this.#calls.length >= this.#maxCalls) throw tooMany(this.#maxCalls);
    const call = { index: undefined, key: "", id: "", name: "", pieces: [], whole: undefined, isForeign: false };
    this.#calls.push(call);
    return call;
  }

  #identify(call: OpenCall, { index, key, id, name, isForeign }: CallDelta): void {
    if (index !== undefined) {
      call.index ??= index;
      this.#byIndex.set(index, call);
    }
    if (key !== undefined) {
      if (call.key === "") call.key = key;
      this.#byKey.set(key, call);
    }
    if (id !== undefined) {
      if (call.id === "") call.id = id;
      if (!this.#byId.has(id)) this.#byId.set(id, call);
    }
    // A name arrives whole, or is repeated with every piece; it arrives in pieces only before the arguments.
    if (name !== undefined && name !== call.name && !isStarted(call)) call.name += name;
    else if (call.name === "") call.name = name ?? "";
    if (isForeign === true) call.isForeign = true;
  }

  #inOrder(): OpenCall[] {
    const calls = this.#calls.filter(({ isForeign }) => !isForeign);
    const isPlaced = calls.every(({ index }) => index !== undefined);
    return isPlaced ? calls.sort((a, b) => (a.index ?? 0) - (b.index ?? 0)) : calls;
  }

  #spend(texts: readonly (string | undefined)[]): void {
    this.#characters += PIECE_COST;
    for (const text of texts) this.#characters += text?.length ?? 0;
    if (this.#characters <= this.#maxCharacters) return;
    throw new KernelError(
      "RESOURCE_EXCEEDED",
      `the calls of one message take more than ${this.#maxCharacters} characters`,
    );
  }
}

function isStarted(call: OpenCall): boolean {
  return call.whole !== undefined || call.pieces.length > 0;
}

function textOf({ whole, pieces }: OpenCall): string {
  if (whole !== undefined) return whole;
  const isNumbered = pieces.every(({ sequence }) => sequence !== undefined);
  const ordered = isNumbered ? [...pieces].sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0)) : pieces;
  return ordered.map(({ text }) => text).join("");
}

function tooMany(maxCalls: number): KernelError {
  return new KernelError("RESOURCE_EXCEEDED", `one message makes more than ${maxCalls} calls`);
}
