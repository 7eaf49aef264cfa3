/** Returns the result of the promise, or throws `fault()` if it takes longer than the timeout. */
export async function withTimeout<T>(promise: Promise<T>, timeoutMs: number, fault: () => Error): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(fault()), timeoutMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
