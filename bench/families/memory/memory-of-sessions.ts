import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { callMany } from "../../harness/call-many.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { openEmbedded } from "../../harness/open-embedded.ts";
import { measureMemory } from "../../harness/resident.ts";

const WARM_UP = 2000;
const SESSIONS = 20_000;
const IN_FLIGHT = 64;
const MAX_BYTES = 2048;

/** What a session costs that was opened and waits: the slope over many. */
export const memoryOfSessions: Measurement = async ({ scale, directory }) => {
  const { kernel, close } = await openEmbedded(directory);
  const workspace = await mkdtemp(join(directory, "workspace-"));
  const open = async (): Promise<void> => void (await kernel.openSession({ workspace }));
  await callMany(WARM_UP, IN_FLIGHT, open);
  const before = await measureMemory();
  const count = Math.max(WARM_UP, Math.round(SESSIONS * scale));
  await callMany(count, IN_FLIGHT, open);
  const after = await measureMemory();
  await close();
  const held = (after.heldBytes - before.heldBytes) / count;
  const resident = (after.residentBytes - before.residentBytes) / count;
  return {
    rows: [
      {
        what: `an open session, over ${count.toLocaleString("en-US")}`,
        ours: { value: held, unit: "bytes" },
        bar: { of: "ours", limit: "at most", value: MAX_BYTES },
        picture: "memory of an open session",
      },
    ],
    raw: { "heap and external, bytes a session": [held], "resident, bytes a session": [resident] },
    notes: [`an open session: ${Math.round(resident)} bytes of the process's resident memory, its threads included`],
  };
};
