import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { AdminService, KernelService } from "@narthex/contracts";
import type { Kernel } from "@narthex/kernel";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "@narthex/contracts/health";

/** The empty name stands for the whole server. */
const SERVICES = ["", KernelService.typeName, AdminService.typeName];

/** The standard gRPC health protocol. Open to anyone; it only reveals whether calls are taken. */
export function createHealthService(kernel: Kernel, stopping: AbortSignal): ServiceImpl<typeof Health> {
  const statusNow = (): Status => (kernel.closing || stopping.aborted ? Status.NOT_SERVING : Status.SERVING);
  return {
    check({ service }) {
      if (!SERVICES.includes(service)) throw new ConnectError("no such service", Code.NotFound);
      return { status: statusNow() };
    },

    list() {
      return { statuses: Object.fromEntries(SERVICES.map((service) => [service, { status: statusNow() }])) };
    },

    async *watch({ service }, context) {
      if (!SERVICES.includes(service)) {
        yield { status: Status.SERVICE_UNKNOWN };
        await anyAborted(context.signal, stopping);
        return;
      }
      const status = statusNow();
      yield { status };
      if (status === Status.NOT_SERVING) return;
      await anyAborted(context.signal, stopping);
      if (!context.signal.aborted) yield { status: Status.NOT_SERVING };
    },
  };
}

function anyAborted(...signals: readonly AbortSignal[]): Promise<void> {
  const any = AbortSignal.any([...signals]);
  if (any.aborted) return Promise.resolve();
  return new Promise((resolve) => any.addEventListener("abort", () => resolve(), { once: true }));
}
