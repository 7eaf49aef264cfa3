import { fromCarriers, toCarriers } from "./bits.ts";
import { exactFunction, exactGlobal } from "./exact-call.ts";
import type { Outcome } from "./outcome.ts";
import type { ScriptAction } from "./script-command.ts";

/** A module after instantiation. */
export type Loaded = { readonly exports: WebAssembly.Instance["exports"] } | { readonly rejected: string };

/** A loaded module, and the modules that it shares state with. */
interface Linked {
  exports: WebAssembly.Instance["exports"];
  rejected: string | undefined;
  readonly importsFrom: ReadonlySet<Linked>;
}

export type Imports = Record<string, Record<string, unknown>>;

/** One of the two ways to run modules. */
export interface Engine {
  /** Throws the errors of V8. */
  load(bytes: Uint8Array, imports: Imports): Loaded;
  /** Resets limits before a call. */
  beforeCall(): void;
  /** Converts a thrown error to an outcome. */
  explain(fault: unknown): Outcome;
}

/** The modules of a script, by name and as they are imported, run by one engine. */
export class World {
  readonly #engine: Engine;
  readonly #registered = new Map<string, Linked>();
  readonly #named = new Map<string, Linked>();
  readonly #all: Linked[] = [];
  #current: Linked | undefined;

  constructor(engine: Engine, spectest: Uint8Array) {
    this.#engine = engine;
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(spectest));
    this.#registered.set("spectest", { exports, rejected: undefined, importsFrom: new Set() });
  }

  /** Instantiates a module and makes it the current one, with this name if there is one. */
  define(bytes: Uint8Array, name: string | undefined): Outcome {
    this.#current = undefined;
    const { linked, outcome } = this.#link(bytes);
    this.#current = linked;
    if (name !== undefined && linked !== undefined) this.#named.set(name, linked);
    return outcome;
  }

  /** Instantiates a module that is not used afterwards. */
  load(bytes: Uint8Array): Outcome {
    return this.#link(bytes).outcome;
  }

  #link(bytes: Uint8Array): { readonly linked: Linked | undefined; readonly outcome: Outcome } {
    const importsFrom = new Set<Linked>();
    try {
      const imports: Imports = {};
      for (const { module, name } of WebAssembly.Module.imports(new WebAssembly.Module(bytes))) {
        const from = this.#registered.get(module);
        if (from !== undefined && module !== "spectest") importsFrom.add(from);
        const part = (imports[module] ??= {});
        if (from !== undefined && name in from.exports) part[name] = from.exports[name];
      }
      this.#engine.beforeCall();
      const needed = [...importsFrom].find(({ rejected }) => rejected !== undefined);
      const loaded = needed?.rejected === undefined ? this.#engine.load(bytes, imports) : { rejected: needed.rejected };
      const rejected = "rejected" in loaded ? loaded.rejected : undefined;
      const linked = { exports: "exports" in loaded ? loaded.exports : {}, rejected, importsFrom };
      this.#all.push(linked);
      if (rejected === undefined) return { linked, outcome: { kind: "done" } };
      for (const other of importsFrom) this.#reject(other, rejected);
      return { linked, outcome: { kind: "rejected", reason: rejected } };
    } catch (fault) {
      return { linked: undefined, outcome: this.#engine.explain(fault) };
    }
  }

  /**
   * The rejected module could have changed the state that it shares with others, so their state may differ from the
   * other world's: they are rejected too.
   */
  #reject(linked: Linked, reason: string): void {
    if (linked.rejected !== undefined) return;
    linked.rejected = reason;
    for (const other of this.#all) if (other.importsFrom.has(linked)) this.#reject(other, reason);
    for (const other of linked.importsFrom) this.#reject(other, reason);
  }

  register(as: string, name: string | undefined): Outcome {
    const linked = name === undefined ? this.#current : this.#named.get(name);
    if (linked === undefined) return { kind: "failed", message: "no module" };
    this.#registered.set(as, linked);
    return linked.rejected === undefined ? { kind: "done" } : { kind: "rejected", reason: linked.rejected };
  }

  act(action: ScriptAction, resultTypes: readonly string[]): Outcome {
    const linked = action.module === undefined ? this.#current : this.#named.get(action.module);
    if (linked === undefined) return { kind: "failed", message: "no module" };
    if (linked.rejected !== undefined) return { kind: "rejected", reason: linked.rejected };
    try {
      const target = linked.exports[action.field];
      this.#engine.beforeCall();
      if (action.kind === "get") return { kind: "values", values: readGlobal(target, resultTypes) };
      if (typeof target !== "function") return { kind: "failed", message: `no function \`${action.field}\`` };
      const run = exactFunction(
        target,
        action.values.map(({ type }) => type),
        resultTypes,
      );
      return { kind: "values", values: fromCarriers(run(...action.values.flatMap(toCarriers)), resultTypes) };
    } catch (fault) {
      return this.#engine.explain(fault);
    }
  }
}

function readGlobal(target: unknown, types: readonly string[]): string[] {
  if (!(target instanceof WebAssembly.Global)) throw new TypeError("no global of that name");
  const type = types[0] ?? "i32";
  try {
    return fromCarriers(exactGlobal(target, { type, mutable: false })(), types);
  } catch (fault) {
    if (!(fault instanceof WebAssembly.LinkError)) throw fault;
    return fromCarriers(exactGlobal(target, { type, mutable: true })(), types);
  }
}
