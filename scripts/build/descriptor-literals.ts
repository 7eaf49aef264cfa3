import { pathToFileURL } from "node:url";
import type { Plugin } from "rolldown";
import { messageLiteral } from "./message-literal.ts";

/** The parts of a file's descriptor that are used here. */
interface FileDescriptor {
  readonly proto: { readonly name: string };
}

const GENERATED = /\/src\/gen\/.*_pb\.js$/;
/** The code that the generator writes for a file without imports. */
const LONE_FILE = /export const (\w+) = \/\*@__PURE__\*\/\s*fileDesc\("[\w+/=]+"\);/;

/**
 * Replaces the descriptors of message files by code. Generated files contain them in protobuf's own encoding; to decode
 * that, a program must first build the descriptors of descriptors, which takes a third of a call's start-up time.
 */
export function readyDescriptors(): Plugin {
  return {
    name: "ready-descriptors",
    transform: {
      filter: { id: GENERATED },
      async handler(code, id) {
        const name = LONE_FILE.exec(code)?.[1];
        if (name === undefined) return undefined;
        const exported = (await import(pathToFileURL(id).href)) as Readonly<Record<string, FileDescriptor>>;
        const proto = exported[name]?.proto;
        if (proto === undefined) throw new Error(`${id} does not export \`${name}\``);
        const built = `createFileRegistry(${messageLiteral(proto)}, () => undefined).getFile(${JSON.stringify(proto.name)})`;
        return [
          `import { createFileRegistry } from "@bufbuild/protobuf";`,
          code.replace(LONE_FILE, () => `export const ${name} = /*@__PURE__*/ (() => ${built})();`),
        ].join("\n");
      },
    },
  };
}
