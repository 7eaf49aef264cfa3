import type { Check } from "../check.ts";
import { approval } from "./approval.ts";
import { cancel } from "./cancel.ts";
import { connect } from "./connect.ts";
import { denial } from "./denial.ts";
import { image } from "./image.ts";
import { kernelKilled } from "./kernel-killed.ts";
import { longOutput } from "./long-output.ts";
import { loop } from "./loop.ts";
import { ownTools } from "./own-tools.ts";
import { twoClients } from "./two-clients.ts";
import { undo } from "./undo.ts";

/** In the order in which they run: the last one disconnects the client. */
export const CHECKS: readonly Check[] = [
  connect,
  loop,
  denial,
  approval,
  longOutput,
  image,
  ownTools,
  cancel,
  twoClients,
  kernelKilled,
  undo,
];
