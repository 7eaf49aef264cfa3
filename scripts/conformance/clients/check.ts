import type { Site } from "./site.ts";

/** Something that a user of a client does with narthex. Throws a `CheckFailure`, or gives a remark or nothing. */
export interface Check {
  readonly name: string;
  /** What holds if it passes, as a clause. */
  readonly title: string;
  run(site: Site): Promise<string | undefined>;
}
