import type { Family } from "../../harness/measurement.ts";

export const family: Family = {
  title: "the way out: every request judged, bounded and counted, every page read in a sandbox",
  measurements: ["one-grant", "across-calls", "from-sandbox", "many-pages", "markdown", "whole-call"],
  packages: ["defuddle", "linkedom"],
};
