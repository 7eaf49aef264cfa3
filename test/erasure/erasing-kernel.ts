import { blake3, utf8 } from "@narthex/contracts";
import { createKernel } from "narthex";

/** A kernel that stores what it is told, says so, erases it, and says that too; to be killed at any moment. */
const [, , data = "", workspace = "", secret = ""] = process.argv;
const kernel = await createKernel({ data });
const session = await kernel.session({ workspace });
const large = utf8(`${secret} `.repeat(4000));
for (let number = 0; number < 8; number++) await session.call("echo", { text: secret });
async function* chunks(): AsyncGenerator<Uint8Array> {
  yield large;
}
await kernel.putContent({ sessionId: session.id, door: "test", labels: [], chunks: chunks() });
process.stdout.write("stored\n");
const hashes = [blake3(utf8(JSON.stringify({ text: secret }))), blake3(large)];
await kernel.erase({ hashes, sessionIds: [], reason: "asked for", by: "ada", dryRun: false });
process.stdout.write("erased\n");
await new Promise((resolve) => setTimeout(resolve, 60_000));
