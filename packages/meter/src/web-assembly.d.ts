/** What Node offers of the WebAssembly JavaScript interface, as far as it is used here; Node's own types leave it out. */
declare namespace WebAssembly {
  type ValueKind = "i32" | "i64" | "f32" | "f64" | "v128" | "anyfunc" | "externref";
  type ExternalKind = "function" | "table" | "memory" | "global" | "tag";
  type ExportedFunction = (...values: unknown[]) => unknown;

  function validate(bytes: Uint8Array): boolean;

  class Module {
    constructor(bytes: Uint8Array);
    static exports(module: Module): { readonly name: string; readonly kind: ExternalKind }[];
    static imports(module: Module): { readonly module: string; readonly name: string; readonly kind: ExternalKind }[];
    static customSections(module: Module, name: string): ArrayBuffer[];
  }

  class Instance {
    constructor(module: Module, imports?: Readonly<Record<string, Readonly<Record<string, unknown>>>>);
    readonly exports: Readonly<Record<string, ExportedFunction | Global | Memory | Table>>;
  }

  class Global {
    constructor(type: { readonly value: ValueKind; readonly mutable?: boolean }, value?: unknown);
    value: unknown;
  }

  class Memory {
    constructor(limits: { readonly initial: number; readonly maximum?: number; readonly shared?: boolean });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }

  class Table {
    constructor(type: {
      readonly element: "anyfunc" | "externref";
      readonly initial: number;
      readonly maximum?: number;
    });
    readonly length: number;
    get(index: number): unknown;
    set(index: number, value?: unknown): void;
    grow(entries: number, value?: unknown): number;
  }

  class CompileError extends Error {}
  class LinkError extends Error {}
  class RuntimeError extends Error {}
}
