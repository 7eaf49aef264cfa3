import type { Site } from "./site.ts";

/**
 * A scenario of a user who works with a client and narthex. Throws a `CheckFailure`, or returns a remark or nothing.
 */
export interface Check {
  readonly name: string;
  /** The behaviour that the check proves, as a clause. */
  readonly title: string;
  run(site: Site): Promise<string | undefined>;
}
