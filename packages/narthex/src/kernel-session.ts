import { createAgentSession, type InProcessSession, type SessionCallOptions } from "@narthex/agent";
import type { JsonValue } from "@narthex/contracts";
import {
  type CallResult,
  checkOptions,
  type DefinedTool,
  type Delegation,
  type Kernel,
  type OptionKinds,
  type Tool,
  type ToolOutput,
} from "@narthex/kernel";
import type { BuiltinName } from "@narthex/tools";

/** A session as code in this process uses it. `Tools` are those that the kernel was created with. */
export interface KernelSession<Tools extends readonly Tool[] = readonly Tool[]> extends Omit<InProcessSession, "call"> {
  readonly token: string;
  /**
   * Calls a tool that the compiler knows: one of `createKernel`, or a built-in one. Never rejects: a denial or an error
   * is a result like any other. Aborting the signal cancels the call.
   */
  call<Name extends ToolName<Tools>>(
    tool: Name,
    input: ToolInput<Tools, Name>,
    options?: NamelessCallOptions,
  ): Promise<CallResult<ToolValue<Tools, Name>>>;
  /**
   * The same for a request with an id or a deduplication key: it may get a recorded response, whose value may no longer
   * be kept.
   */
  call<Name extends ToolName<Tools>>(
    tool: Name,
    input: ToolInput<Tools, Name>,
    options?: SessionCallOptions,
  ): Promise<CallResult<ToolValue<Tools, Name> | undefined>>;
  /** Calls a tool by a name that is only known at run time: an added or registered tool, or one of an MCP server. */
  callTool(tool: string, input: JsonValue, options?: SessionCallOptions): Promise<CallResult>;
  /**
   * Opens a session with a narrower lease, delegated from this one's, for a sub-agent. Omitted parts default to this
   * session's own, and to its whole remaining budget. Closing it returns its unused budget. Throws LEASE_INVALID with
   * everything in which it would exceed this session's lease.
   */
  delegate(delegation?: SessionDelegation): Promise<KernelSession<Tools>>;
  close(): Promise<void>;
}

/** What a sub-agent gets. Only `kernel.delegateLease` can give it another name, because rules depend on names. */
export type SessionDelegation = Pick<
  Delegation,
  "lease" | "ttlMs" | "workingDirectory" | "seed" | "labels" | "contentHashes"
>;

const DELEGATION: OptionKinds<SessionDelegation> = {
  lease: "object?",
  ttlMs: "amount?",
  workingDirectory: "text?",
  seed: "any?",
  labels: "texts?",
  contentHashes: "list?",
};

/** The names that the compiler knows; any string if the tools' own names are not known to it. */
export type ToolName<Tools extends readonly Tool[]> = string extends Tools[number]["name"]
  ? string
  : Tools[number]["name"] | BuiltinName;

/** The type of a tool's input, as callers send it. */
export type ToolInput<Tools extends readonly Tool[], Name> = TypesOf<Extract<Tools[number], Named<Name>>>["input"];

/** The type of a tool's result value. */
export type ToolValue<Tools extends readonly Tool[], Name> = TypesOf<Extract<Tools[number], Named<Name>>>["value"];

interface Named<Name> {
  readonly name: Name;
}

/** In brackets, because a conditional type over `never` would otherwise be `never`. */
type TypesOf<Found extends Tool> = [Found] extends [never]
  ? UnknownTypes
  : Found extends DefinedTool<string, unknown, unknown>
    ? "~types" extends keyof Found
      ? NonNullable<Found["~types"]>
      : UnknownTypes
    : UnknownTypes;

interface UnknownTypes {
  readonly input: JsonValue;
  readonly value: ToolOutput;
}

/** A recorded response is only returned for a request with an id or a deduplication key. */
export interface NamelessCallOptions extends Omit<SessionCallOptions, "requestId" | "dedupeKey"> {
  readonly requestId?: undefined;
  readonly dedupeKey?: undefined;
}

type SessionKernel = Parameters<typeof createAgentSession>[0] & Pick<Kernel, "closeSession" | "delegateLease">;

/** Creates a session from its id and token. */
export function createKernelSession<Tools extends readonly Tool[]>(
  kernel: SessionKernel,
  { id, token }: { readonly id: string; readonly token: string },
): KernelSession<Tools> {
  const session = createAgentSession(kernel, { id, token });
  return {
    ...session,
    token,
    // Input and value have the tool's declared types, and the kernel checks both.
    call: session.call as KernelSession<Tools>["call"],
    callTool: session.call,
    async delegate(delegation = {}) {
      checkOptions(delegation, DELEGATION, "a delegation");
      const child = await kernel.delegateLease({ ...delegation, token });
      return createKernelSession<Tools>(kernel, { id: child.session.session.id, token: child.token });
    },
    close: async () => void (await kernel.closeSession(id)),
  };
}
