import { workerData } from "node:worker_threads";
import { copyRecords } from "./copy-records.ts";

/** Copies the records file without blocking the threads that use it. */
const { directory, target } = workerData as { readonly directory: string; readonly target: string };
copyRecords(directory, target);
