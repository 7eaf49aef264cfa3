import type { Check } from "../check.ts";
import { excerpt, expect } from "../outcome.ts";

export const image: Check = {
  name: "image",
  title: "the model sees a picture that it reads",
  async run(site) {
    await using run = await site.start([{ call: "file_read", input: { path: "docs/pic.png" } }]);
    const { results } = await run.end();
    const media = run.turns.at(-1)?.media ?? [];
    expect(media.includes("image/png"), `the model was given no image: ${excerpt(results[0] ?? "nothing")}`);
    return undefined;
  },
};
