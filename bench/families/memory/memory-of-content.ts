import type { NarthexKernel } from "narthex";
import type { Measurement } from "../../harness/measurement.ts";
import { openEmbedded } from "../../harness/open-embedded.ts";
import { MB, measureMemory } from "../../harness/resident.ts";

const CONTENT_BYTES = 1024 * MB;
const WARM_UP_BYTES = 16 * MB;
const CHUNK_BYTES = 256 * 1024;
/** Often: the pieces themselves are garbage at once, and 64 MB of it would be what is measured. */
const LOOK_EVERY_BYTES = 8 * MB;

type Look = () => Promise<void>;

/** Content passes through in pieces: neither putting nor getting it holds it. */
export const memoryOfContent: Measurement = async ({ scale, directory }) => {
  const { kernel, session, close } = await openEmbedded(directory);
  const bytes = Math.max(WARM_UP_BYTES, Math.round(CONTENT_BYTES * scale));
  await pass(kernel, session.id, WARM_UP_BYTES, async () => undefined);
  const resident = [(await measureMemory()).residentBytes / MB];
  const startedMs = performance.now();
  await pass(kernel, session.id, bytes, async () => {
    resident.push((await measureMemory()).residentBytes / MB);
  });
  const seconds = (performance.now() - startedMs) / 1000;
  await close();
  return {
    rows: [
      {
        what: `memory while ${Math.round(bytes / MB).toLocaleString("en-US")} MB are put and got`,
        ours: { value: Math.max(...resident) - (resident[0] ?? 0), unit: "MB more" },
        bar: { of: "ours", limit: "at most", value: 32 },
        picture: "memory while 1 GB passes through",
      },
    ],
    raw: { "resident MB": resident, "seconds for both": [seconds] },
  };
};

async function pass(kernel: NarthexKernel, sessionId: string, size: number, look: Look): Promise<void> {
  const chunks = makeContent(size, look);
  const { hash } = await kernel.putContent({ sessionId, door: "bench", labels: [], chunks });
  const { chunks: read } = await kernel.getContent(sessionId, hash, 0, size);
  let got = 0;
  let lookAt = LOOK_EVERY_BYTES;
  for await (const chunk of read) {
    got += chunk.length;
    if (got < lookAt) continue;
    lookAt += LOOK_EVERY_BYTES;
    await look();
  }
  if (got !== size) throw new Error(`got ${got} of ${size} bytes`);
}

/** Every chunk is a new one, as from a socket, and differs from the others. */
async function* makeContent(size: number, look: Look): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    const chunk = new Uint8Array(Math.min(CHUNK_BYTES, size - at)).fill(at / CHUNK_BYTES);
    new DataView(chunk.buffer).setFloat64(0, at);
    yield chunk;
    if (at > 0 && at % LOOK_EVERY_BYTES === 0) await look();
  }
}
