import { configureTextEncoding, getTextEncoding } from "@bufbuild/protobuf/wire";

// A text may begin with U+FEFF. By default the decoder would drop it as a byte order mark, so that decoding and
// encoding a message would change it.
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
configureTextEncoding({
  ...getTextEncoding(),
  decodeUtf8: (bytes, isStrict) => (isStrict ? strict : lenient).decode(bytes),
});

export { create, fromBinary, toBinary } from "@bufbuild/protobuf";
