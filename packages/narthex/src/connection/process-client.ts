import {
  AdminService,
  AttendSessionRequestSchema,
  create,
  GetKernelRequestSchema,
  type GetKernelResponse,
  GetPolicyRequestSchema,
  type PolicyInfo,
  StopKernelRequestSchema,
} from "@narthex/contracts";
import { findAdminToken, findSockets } from "./kernel-files.ts";
import { createServicesClient } from "./services-client.ts";

/** The process that serves as the kernel of a home, as opposed to the kernel's services. */
export interface ProcessClient {
  getKernel(): Promise<GetKernelResponse>;
  /** Returns the policy in force, or the reason why none is in force. */
  getPolicy(): Promise<PolicyInfo | undefined>;
  /** Tells the kernel to finish its calls and release the home. Throws HOME_BUSY if it was not started on demand. */
  stop(reason: string): Promise<void>;
  /**
   * Ties a session to this process. Resolves once the kernel has registered it; `ended` resolves when the kernel stops
   * or is gone.
   */
  attend(attended: AttendedSession): Promise<{ readonly ended: Promise<void> }>;
  close(): void;
}

export interface AttendedSession {
  readonly sessionId: string;
  /** The PATH of this client. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** Called each time the session's lease was revoked or expired. */
  onLeaseEnded(): void;
}

const { method } = AdminService;

export async function openProcessClient(home: string): Promise<ProcessClient> {
  const { services } = await findSockets(home);
  const admin = { token: await findAdminToken(home) };
  const client = createServicesClient(services);
  return {
    getKernel: () => client.unary(method.getKernel, create(GetKernelRequestSchema), admin),
    getPolicy: async () => (await client.unary(method.getPolicy, create(GetPolicyRequestSchema), admin)).policy,
    async stop(reason) {
      await client.unary(method.stopKernel, create(StopKernelRequestSchema, { reason }), admin);
    },
    async attend({ sessionId, path, signal, onLeaseEnded }) {
      const request = create(AttendSessionRequestSchema, { sessionId, path });
      const messages = client.serverStream(method.attendSession, request, { ...admin, signal });
      const stream = messages[Symbol.asyncIterator]();
      await stream.next();
      return { ended: readToEnd(stream, onLeaseEnded) };
    },
    close: () => client.close(),
  };
}

async function readToEnd(stream: AsyncIterator<unknown>, onMessage: () => void): Promise<void> {
  try {
    while ((await stream.next()).done !== true) onMessage();
  } catch {
    // Errors are ignored: the stream has ended either way.
  }
}
