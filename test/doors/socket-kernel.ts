import {
  createKernel as createInProcess,
  type KernelSession,
  type NarthexKernel,
  type OpenKernelOptions,
  type OpenSessionOptions,
} from "narthex";
import { connectServices, createSocketCaller, type SocketCaller } from "./socket-session.ts";

/** A session whose calls all come through the services' socket. */
export type SocketSession = Omit<KernelSession, "call"> & SocketCaller;

/** A kernel of this process that can be called only through its socket: nothing here calls a tool in process. */
export interface SocketKernel extends Omit<NarthexKernel, "call" | "callInProcess" | "session" | "resumeSession"> {
  session(options: OpenSessionOptions): Promise<SocketSession>;
  resumeSession(token: string): Promise<SocketSession>;
}

/** Takes the same options as the library's own, so that a test's attacks reach the kernel as a client's do. */
export async function createKernel(options: OpenKernelOptions = {}): Promise<SocketKernel> {
  const kernel = await createInProcess(options);
  const client = connectServices(kernel.sockets.services);
  const throughSocket = (held: KernelSession): SocketSession => ({
    ...held,
    ...createSocketCaller(client, held.token),
  });
  const { call: _, callInProcess: __, ...others } = kernel;
  return {
    ...others,
    get closing() {
      return kernel.closing;
    },
    session: async (open) => throughSocket(await kernel.session(open)),
    resumeSession: async (token) => throughSocket(await kernel.resumeSession(token)),
    async close(closing) {
      await kernel.close(closing);
      client.close();
    },
  };
}
