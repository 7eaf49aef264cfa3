/** Looks, and tells, once for any number of changes that come while it does. */
export function createCoalescedNotifier(notify: () => Promise<void>): () => void {
  let isLooking = false;
  let again = false;

  async function look(): Promise<void> {
    isLooking = true;
    do {
      again = false;
      // A list that cannot be had now is asked for when the next change is heard of.
      await notify().catch(() => undefined);
    } while (again);
    isLooking = false;
  }

  return () => {
    if (isLooking) again = true;
    else void look();
  };
}
