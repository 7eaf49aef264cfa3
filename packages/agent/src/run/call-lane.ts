/** Runs calls in the order in which they arrive. */
export interface CallLane {
  /** Read-only calls run in parallel; any other call waits for all earlier calls and blocks all later ones. */
  run<T>(isReadOnly: boolean, task: () => Promise<T>): Promise<T>;
}

interface Waiting {
  readonly isReadOnly: boolean;
  start(): Promise<void>;
}

export function createCallLane(maxParallel: number): CallLane {
  const queue: Waiting[] = [];
  let running = 0;
  let isExclusive = false;

  function startNext(): void {
    for (let next = queue[0]; next !== undefined && mayStart(next); next = queue[0]) {
      queue.shift();
      running++;
      isExclusive = !next.isReadOnly;
      void next.start().finally(() => {
        running--;
        isExclusive = false;
        startNext();
      });
    }
  }

  function mayStart({ isReadOnly }: Waiting): boolean {
    return running === 0 || (isReadOnly && !isExclusive && running < maxParallel);
  }

  return {
    run: (isReadOnly, task) =>
      new Promise((resolve, reject) => {
        queue.push({ isReadOnly, start: () => task().then(resolve, reject) });
        startNext();
      }),
  };
}
