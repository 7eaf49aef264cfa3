import type { Metered, MeterOptions } from "./meter-options.ts";
import { Rejection } from "./meter-reason.ts";
import type { ModuleShape } from "./module-shape.ts";
import { readModule } from "./read-module.ts";
import { isFloat, type Signature } from "./value-type.ts";
import { writeModule } from "./write-module.ts";

/** `\0asm`, as a number. */
const MAGIC = 0x6d736100;
const CORE_VERSION = 1;
/** The two bytes after the version of a component. */
const COMPONENT_LAYER = 1;
const HEADER_LENGTH = 8;

/**
 * Rewrites a module so that its resource usage is metered and bounded, identically on every machine, or returns why the
 * module is rejected.
 *
 * SECURITY: the bytes may come from an attacker. V8 validates the original first, so that the rewriter's input is well
 * formed and well typed; anything not known to be metered is rejected; and V8 validates the result, so that a bug in
 * the rewriter cannot produce an unsound module.
 */
export function meterModule(original: Uint8Array, options: MeterOptions): Metered {
  try {
    checkHeader(original);
    if (!WebAssembly.validate(original)) throw explainInvalid(original);
    const module = readModule(original, options);
    const { code, exports, usesSimd, usesFloats } = writeModule(module, options);
    if (!WebAssembly.validate(code)) throw new Rejection("not-metered", 0, compileMessage(code));
    const { memory } = module;
    return {
      ok: true,
      code,
      exports,
      declaration: module.customSections,
      facts: {
        usesSimd,
        usesFloats: usesFloats || namesFloats(module),
        functions: module.functionTypes.length - module.importedFunctions,
        takesFloats: takesFloats(module),
        memoryPages: memory && { initial: memory.initial, maximum: memory.maximum },
      },
    };
  } catch (fault) {
    if (!(fault instanceof Rejection)) throw fault;
    return { ok: false, reason: fault.reason, message: fault.message, offset: fault.offset };
  }
}

function checkHeader(original: Uint8Array): void {
  if (original.length < HEADER_LENGTH) throw new Rejection("not-a-module", 0);
  const view = new DataView(original.buffer, original.byteOffset, HEADER_LENGTH);
  if (view.getUint32(0, true) !== MAGIC) throw new Rejection("not-a-module", 0);
  if (view.getUint16(6, true) === COMPONENT_LAYER) throw new Rejection("component", 4);
  if (view.getUint32(4, true) !== CORE_VERSION) throw new Rejection("not-a-module", 4);
}

function explainInvalid(bytes: Uint8Array): Rejection {
  const message = compileMessage(bytes);
  const offset = /@\+(\d+)$/.exec(message)?.[1];
  return new Rejection("invalid", Number(offset ?? 0), message === "" ? undefined : message);
}

/** V8 reports the reason only when a module is compiled. */
function compileMessage(bytes: Uint8Array): string {
  try {
    new WebAssembly.Module(bytes);
    return "";
  } catch (fault) {
    if (!(fault instanceof WebAssembly.CompileError)) throw fault;
    return fault.message.replace(/^WebAssembly\.Module\(\): /, "").replaceAll(/\s+/g, " ");
  }
}

function namesFloats({ types, globalTypes }: ModuleShape): boolean {
  return (
    globalTypes.some(isFloat) || types.some(({ params, results }) => params.some(isFloat) || results.some(isFloat))
  );
}

function takesFloats(module: ModuleShape): boolean {
  const typeOf = (index: number): Signature | undefined => module.types[module.functionTypes[index] ?? -1];
  const hasFloat = (types: Uint8Array | undefined): boolean => types?.some(isFloat) === true;
  for (let index = 0; index < module.importedFunctions; index++) if (hasFloat(typeOf(index)?.results)) return true;
  return module.exportedFunctions.some((index) => hasFloat(typeOf(index)?.params));
}
