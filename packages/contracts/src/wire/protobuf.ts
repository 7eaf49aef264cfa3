import { configureTextEncoding, getTextEncoding } from "@bufbuild/protobuf/wire";

// A text may begin with U+FEFF. By default the reader takes it for a byte order mark and drops it, and a message
// read and written again would not be the same.
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
configureTextEncoding({
  ...getTextEncoding(),
  decodeUtf8: (bytes, isStrict) => (isStrict ? strict : lenient).decode(bytes),
});

export { create, fromBinary, toBinary } from "@bufbuild/protobuf";
