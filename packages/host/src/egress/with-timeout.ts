/** What was promised, or this fault if it takes longer. */
export async function withTimeout<T>(promise: Promise<T>, timeoutMs: number, fault: () => Error): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(fault()), timeoutMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
