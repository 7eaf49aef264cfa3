import { addRecords, openSignedHome } from "./signed-home.ts";

/** Runs a kernel that signs one checkpoint after another, while records are added, until it is killed. */

const [, , directory = ""] = process.argv;
const home = await openSignedHome(directory, { isBrief: false });
await home.run(async (kernel) => {
  for (;;) {
    const adding = addRecords(kernel, 30);
    const { note } = await kernel.signCheckpoint();
    process.stdout.write(`${JSON.stringify(note)}\n`);
    await adding;
  }
});
