import { KernelError } from "@narthex/contracts";

export function unreadable(reason: string): KernelError {
  return new KernelError("STORE_UNAVAILABLE", `the store cannot be read: ${reason}`);
}
