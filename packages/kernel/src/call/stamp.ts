/**
 * Base of a mark: the constructor of a class that extends this puts the class's private fields onto an object that
 * exists already. Only code inside that class can put them there or look for them.
 *
 * Not a WeakMap, which would do the same: one whose values refer to their keys keeps every call alive until the next
 * full garbage collection, and that was a third of the time a call takes.
 */
// oxlint-disable-next-line typescript/no-extraneous-class -- all it is for is to be extended
export class Stamp {
  constructor(object: object) {
    return object;
  }
}
