/** Makes so many calls, so many of them in flight. */
export async function callMany(count: number, inFlight: number, call: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}
