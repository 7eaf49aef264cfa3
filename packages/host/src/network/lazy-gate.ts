import { KernelError } from "@narthex/contracts";
import type { EgressClient, EgressGate, EgressGrant } from "@narthex/kernel";

/**
 * A gate that is loaded at the first request: most programs that open a kernel send none, and the HTTP client is a
 * third of the code they would load.
 */
export function createLazyGate(load: () => Promise<EgressGate>): EgressGate {
  let loading: Promise<EgressGate> | undefined;
  let isClosed = false;
  const gate = (): Promise<EgressGate> => {
    if (isClosed) throw new KernelError("CANCELLED", "the gate is closed");
    loading ??= load();
    return loading;
  };
  return {
    open: (pass) => openLazyClient(pass, gate),
    openProxy: async (pass) => await (await gate()).openProxy(pass),
    async close() {
      isClosed = true;
      await (await loading?.catch(() => undefined))?.close();
    },
  };
}

function openLazyClient(pass: EgressGrant, gate: () => Promise<EgressGate>): EgressClient {
  let exit: EgressClient | undefined;
  let isClosed = false;
  return {
    async request(request, signal) {
      if (exit === undefined) {
        const loaded = await gate();
        // INVARIANT: no request is sent for a call that ended in the meantime.
        if (isClosed) throw new KernelError("CANCELLED", "the call has ended");
        exit ??= loaded.open(pass);
      }
      return await exit.request(request, signal);
    },
    // Does not wait for the gate to load first, so that open requests are reported at once.
    close() {
      isClosed = true;
      return exit?.close() ?? Promise.resolve();
    },
  };
}
