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

/** One agent's stay, as code in this process holds it. `Tools` are those that the kernel was created with. */
export interface KernelSession<Tools extends readonly Tool[] = readonly Tool[]> extends Omit<InProcessSession, "call"> {
  readonly token: string;
  /**
   * Calls a tool that the compiler knows: one of `createKernel`, or a built-in one. Never rejects: a denial or an error is
   * a result like any other. An abort of the signal cancels the call.
   */
  call<Name extends ToolName<Tools>>(
    tool: Name,
    input: ToolInput<Tools, Name>,
    options?: NamelessCallOptions,
  ): Promise<CallResult<ToolValue<Tools, Name>>>;
  /** The same for a request that names itself: it may be answered again, and the value may not be kept any more. */
  call<Name extends ToolName<Tools>>(
    tool: Name,
    input: ToolInput<Tools, Name>,
    options?: SessionCallOptions,
  ): Promise<CallResult<ToolValue<Tools, Name> | undefined>>;
  /** Calls a tool by a name that is only known at run time: one that was added, registered, or is a server's. */
  callTool(tool: string, input: JsonValue, options?: SessionCallOptions): Promise<CallResult>;
  /**
   * Opens a session with a narrower lease, split off this one's, for a sub-agent. What is left out is this session's own,
   * and its whole remaining budget. Closing it gives the rest of its budget back. Throws LEASE_INVALID with everything in
   * which it would reach beyond this session's lease.
   */
  delegate(delegation?: SessionDelegation): Promise<KernelSession<Tools>>;
  close(): Promise<void>;
}

/** What a sub-agent is given. Another name for it can only be given by `kernel.delegateLease`, since rules go by names. */
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

/** The names that the compiler knows; any, where the tools' own are not known to it. */
export type ToolName<Tools extends readonly Tool[]> = string extends Tools[number]["name"]
  ? string
  : Tools[number]["name"] | BuiltinName;

/** The input that callers of a tool send. */
export type ToolInput<Tools extends readonly Tool[], Name> = TypesOf<Extract<Tools[number], Named<Name>>>["input"];

/** The value of a tool's results. */
export type ToolValue<Tools extends readonly Tool[], Name> = TypesOf<Extract<Tools[number], Named<Name>>>["value"];

interface Named<Name> {
  readonly name: Name;
}

/** In brackets, or no tool at all would have any type. */
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

/** An answer is given again only to a request that names itself. */
export interface NamelessCallOptions extends Omit<SessionCallOptions, "requestId" | "dedupeKey"> {
  readonly requestId?: undefined;
  readonly dedupeKey?: undefined;
}

type SessionKernel = Parameters<typeof createAgentSession>[0] & Pick<Kernel, "closeSession" | "delegateLease">;

/** A session by its id and token. */
export function createKernelSession<Tools extends readonly Tool[]>(
  kernel: SessionKernel,
  { id, token }: { readonly id: string; readonly token: string },
): KernelSession<Tools> {
  const session = createAgentSession(kernel, { id, token });
  return {
    ...session,
    token,
    // The types of input and value are those that the tool was made with, and the kernel checks both.
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
