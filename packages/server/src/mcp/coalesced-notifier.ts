/** Creates a function that runs `notify` once for any number of changes that arrive while it runs. */
export function createCoalescedNotifier(notify: () => Promise<void>): () => void {
  let isLooking = false;
  let again = false;

  async function look(): Promise<void> {
    isLooking = true;
    do {
      again = false;
      // If the list is unavailable now, it is requested again after the next change.
      await notify().catch(() => undefined);
    } while (again);
    isLooking = false;
  }

  return () => {
    if (isLooking) again = true;
    else void look();
  };
}
