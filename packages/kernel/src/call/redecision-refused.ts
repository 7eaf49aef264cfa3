import type { Denied, Failed } from "./ending.ts";

/** Thrown into a tool whose call was decided again and refused. However the tool handles it, the call is denied. */
export class RedecisionRefused extends Error {
  readonly refusal: Denied | Failed;

  constructor(refused: Denied | Failed) {
    super(refused.message);
    this.name = "RefusedAgain";
    this.refusal = refused;
  }
}
