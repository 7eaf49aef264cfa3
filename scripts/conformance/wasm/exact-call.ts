/**
 * Numbers lose the bits of NaNs when they pass through JavaScript, and vectors cannot pass at all. Therefore calls go
 * through a small module that passes floats as integers of the same size, and vectors as two of them.
 */
const CODES = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b, funcref: 0x70, externref: 0x6f } as const;
type TypeName = keyof typeof CODES;

const CARRIERS: Readonly<Record<TypeName, readonly TypeName[]>> = {
  i32: ["i32"],
  i64: ["i64"],
  f32: ["i32"],
  f64: ["i64"],
  v128: ["i64", "i64"],
  funcref: ["funcref"],
  externref: ["externref"],
};

/** Code that converts carriers in locals from `first` on to the value. */
const UNPACK: Readonly<Record<TypeName, (first: number) => number[]>> = {
  i32: (first) => [0x20, ...u32(first)],
  i64: (first) => [0x20, ...u32(first)],
  f32: (first) => [0x20, ...u32(first), 0xbe],
  f64: (first) => [0x20, ...u32(first), 0xbf],
  v128: (first) => [0x20, ...u32(first), 0xfd, 0x12, 0x20, ...u32(first + 1), 0xfd, 0x1e, 1],
  funcref: (first) => [0x20, ...u32(first)],
  externref: (first) => [0x20, ...u32(first)],
};

/** Code that converts the value in a local to its carriers. */
const PACK: Readonly<Record<TypeName, (local: number) => number[]>> = {
  i32: (local) => [0x20, ...u32(local)],
  i64: (local) => [0x20, ...u32(local)],
  f32: (local) => [0x20, ...u32(local), 0xbc],
  f64: (local) => [0x20, ...u32(local), 0xbd],
  v128: (local) => [0x20, ...u32(local), 0xfd, 0x1d, 0, 0x20, ...u32(local), 0xfd, 0x1d, 1],
  funcref: (local) => [0x20, ...u32(local)],
  externref: (local) => [0x20, ...u32(local)],
};

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

const modules = new Map<string, WebAssembly.Module>();

/** A function that calls `target` with carriers and returns carriers. */
export function exactFunction(
  target: WebAssembly.ExportedFunction,
  parameters: readonly string[],
  results: readonly string[],
): WebAssembly.ExportedFunction {
  const signature = functionType(parameters.map(typeName), results.map(typeName));
  return link(
    `f ${parameters.join()} ${results.join()}`,
    [0, 0],
    [signature, adapterType(parameters, results)],
    callBody(parameters, results),
    target,
  );
}

/** A function that returns the carriers of a global. */
export function exactGlobal(
  target: WebAssembly.Global,
  { type, mutable }: { readonly type: string; readonly mutable: boolean },
): WebAssembly.ExportedFunction {
  const name = typeName(type);
  const body = [...u32(1), 1, CODES[name], 0x23, 0, 0x21, 0, ...PACK[name](0), 0x0b];
  const description = [3, CODES[name], mutable ? 1 : 0];
  return link(`g ${type} ${mutable}`, description, [functionType([], []), adapterType([], [type])], body, target);
}

function link(
  key: string,
  description: readonly number[],
  types: readonly (readonly number[])[],
  body: readonly number[],
  target: unknown,
): WebAssembly.ExportedFunction {
  let module = modules.get(key);
  if (module === undefined) {
    const isFunction = description[0] === 0;
    module = new WebAssembly.Module(
      new Uint8Array([
        ...HEADER,
        ...section(1, [types.length, ...types.flat()]),
        ...section(2, [1, 1, 0x6d, 1, 0x66, ...description]),
        ...section(3, [1, 1]),
        ...section(7, [1, 1, 0x63, 0, isFunction ? 1 : 0]),
        ...section(10, [1, ...u32(body.length), ...body]),
      ]),
    );
    modules.set(key, module);
  }
  const adapter = new WebAssembly.Instance(module, { m: { f: target } }).exports["c"];
  if (typeof adapter !== "function") throw new Error("the adapter has no function");
  return adapter;
}

function callBody(parameters: readonly string[], results: readonly string[]): number[] {
  const carriers = parameters.flatMap((type) => CARRIERS[typeName(type)]);
  const locals = results.flatMap((type) => [1, CODES[typeName(type)]]);
  const code: number[] = [...u32(results.length), ...locals];
  let carrier = 0;
  for (const type of parameters) {
    code.push(...UNPACK[typeName(type)](carrier));
    carrier += CARRIERS[typeName(type)].length;
  }
  code.push(0x10, 0);
  for (let result = results.length - 1; result >= 0; result--) code.push(0x21, ...u32(carriers.length + result));
  for (const [result, type] of results.entries()) code.push(...PACK[typeName(type)](carriers.length + result));
  code.push(0x0b);
  return code;
}

function adapterType(parameters: readonly string[], results: readonly string[]): number[] {
  return functionType(
    parameters.flatMap((type) => CARRIERS[typeName(type)]),
    results.flatMap((type) => CARRIERS[typeName(type)]),
  );
}

function functionType(parameters: readonly TypeName[], results: readonly TypeName[]): number[] {
  const encode = (types: readonly TypeName[]) => [...u32(types.length), ...types.map((type) => CODES[type])];
  return [0x60, ...encode(parameters), ...encode(results)];
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...u32(content.length), ...content];
}

function u32(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...u32(value >>> 7)];
}

function typeName(name: string): TypeName {
  for (const known of Object.keys(CODES)) if (known === name) return known as TypeName;
  throw new TypeError(`values of type \`${name}\` are not passed`);
}
