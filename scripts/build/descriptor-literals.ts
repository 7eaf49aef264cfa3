import { pathToFileURL } from "node:url";
import type { Plugin } from "rolldown";
import { messageLiteral } from "./message-literal.ts";

/** As much of a file's descriptor as is looked at here. */
interface FileDescriptor {
  readonly proto: { readonly name: string };
}

const GENERATED = /\/src\/gen\/.*_pb\.js$/;
/** As the generator writes it for a file that imports no other. */
const LONE_FILE = /export const (\w+) = \/\*@__PURE__\*\/\s*fileDesc\("[\w+/=]+"\);/;

/**
 * Writes the descriptors of message files as code. Generated files hold them in protobuf's own encoding, and to read
 * that a program must first build the descriptors of descriptors, which takes a third of a call's whole start.
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
