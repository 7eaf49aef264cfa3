/**
 * Base class of marks: the constructor of a subclass adds the private fields of that subclass to an existing object.
 * Only code inside the subclass can add them or check for them.
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
