import { blake3, digestCall, digestSession, type SessionCallIdentity, toHex, utf8 } from "@narthex/contracts";

const DEFINITION = blake3(utf8("a definition"));
const NONE = new Uint8Array(0);

function call(toolName: string, input: string, result: string): SessionCallIdentity {
  return {
    toolName,
    toolVersion: "1.0.0",
    definitionHash: DEFINITION,
    inputDigest: blake3(utf8(input)),
    decision: "allow",
    errorCode: "",
    resultHash: blake3(utf8(result)),
  };
}

/** A single call, three at once, a denied call, a failed call, and a request that named no tool. */
const SETS: readonly (readonly SessionCallIdentity[])[] = [
  [call("echo", "{}", "{}")],
  [call("hash", '{"data":"a"}', '"1"'), call("hash", '{"data":"b"}', '"2"'), call("hash", '{"data":"b"}', '"2"')],
  [{ ...call("git", '{"operation":"PUSH"}', ""), decision: "deny APPROVAL_DENIED", resultHash: NONE }],
  [{ ...call("größe", "[]", ""), errorCode: "EXECUTION_FAILED", resultHash: NONE }],
  [
    {
      ...call("", "", ""),
      toolVersion: "",
      definitionHash: NONE,
      inputDigest: NONE,
      resultHash: NONE,
      errorCode: "TOOL_NOT_FOUND",
    },
  ],
];

/** The content digest of a session, with its input. */
export function sessionVectors(): unknown {
  const session = digestSession();
  for (const set of SETS) session.add(set.map(digestCall));
  return {
    sets: SETS.map((set) =>
      set.map((made) => ({
        tool_name: made.toolName,
        tool_version: made.toolVersion,
        definition_hash: toHex(made.definitionHash),
        input_digest: toHex(made.inputDigest),
        decision: made.decision,
        error_code: made.errorCode,
        result_hash: toHex(made.resultHash),
        digest: toHex(digestCall(made)),
      })),
    ),
    content_digest: toHex(session.finish()),
  };
}
