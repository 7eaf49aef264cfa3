import { createHash, hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { canonicalJson } from "@narthex/contracts";
import type { Campaign, CampaignOutcome, CampaignRound } from "./campaign.ts";

/** What the first so many lines hash to (SHA-256), as published with the algorithm. */
const CHECKSUMS: ReadonlyMap<number, string> = new Map([
  [1_000, "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687"],
  [10_000, "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892"],
  [100_000, "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7"],
  [1_000_000, "49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16"],
  [10_000_000, "b9f8a44a91d46813b21b9602e72f112613c91408db0b8341fb94603d9db135e0"],
  [100_000_000, "0f7dda6b0837dde083c5d6b896f7d62340c8a2415b0c7121d83145e08a755272"],
]);

/** Doubles that come first, as bits: about thirds of powers of ten, then near 1, 0.3, the smallest and the largest. */
const FIRST_THIRDS =
  "446696695dbd1cc3 443211ede4974a35 43fce97ca0f21056 43c7213080c1a6ac 439280f39a348556 435d9b1f5d20d557 " +
  "4327af4c4a80aaac 42f2f2a36ecd5556 42be51057e155558 428840d131aaaaac 4253670dc1555557 421f0b4935555557 " +
  "41e8d5d42aaaaaac 41b3de4355555556 417fca0555555556 41496e6aaaaaaaab 4114585555555555 40e046aaaaaaaaab " +
  "40aa0aaaaaaaaaaa 4074d55555555555 4040aaaaaaaaaaab 400aaaaaaaaaaaab 3fd5555555555555 3fa1111111111111 " +
  "3f6b4e81b4e81b4f 3f35d867c3ece2a5 3f0179ec9cbd821e 3ecbf647612f3696 3e965e9f80f29212 3e61e54c672874db " +
  "3e2ca213d840baf8 3df6e80fe033c8c6 3dc2533fe68fd3d2 3d8d51ffd74c861c 3d5774ccac3d3817 3d22c3d6f030f9ac " +
  "3cee0624b3818f79 3cb804ea293472c7 3c833721ba905bd3 3c4ebe9c5db3c61e 3c18987d17c304e5 3be3ad30dfcf371d " +
  "3baf7b816618582f 3b792f9ab81379bf 3b442615600f9499 3b101e77800c76e1 3ad9ca58cce0be35 3aa4a1e0a3e6fe90 " +
  "3a708180831f320d 3a3a68cd9e985016";
const FIRST_EDGES =
  "bfeffffffffffffa bfeffffffffffffb 3feffffffffffffa 3feffffffffffffb 3feffffffffffffc 3feffffffffffffe " +
  "bfefffffffffffff bfefffffffffffff 3fefffffffffffff 3fefffffffffffff 3fd3333333333332 3fd3333333333333 " +
  "3fd3333333333334 0010000000000000 000ffffffffffffd 000fffffffffffff 7fefffffffffffff ffefffffffffffff " +
  "4340000000000000 c340000000000000 4430000000000000 44b52d02c7e14af5 44b52d02c7e14af6 44b52d02c7e14af7 " +
  "444b1ae4d6e2ef4e 444b1ae4d6e2ef4f 444b1ae4d6e2ef50 3eb0c6f7a0b5ed8c 3eb0c6f7a0b5ed8d 41b3de4355555553 " +
  "41b3de4355555554 41b3de4355555555 41b3de4355555556 41b3de4355555557 becbf647612f3696 43143ff3c1cb0959";
/** Then so many from the smallest normal double on. */
const SERIAL = 2000;
/** Lines that are hashed at once. */
const BATCH = 16_384;

/**
 * The numbers of the ECMAScript serialisation that RFC 8785 takes over, by the generator that is published beside its
 * reference implementations (github.com/cyberphone/json-canonicalization, testdata). There is nothing to draw: the seed
 * is not used.
 */
export const es6Numbers: Campaign = {
  name: "es6-numbers",
  title: "Writes the published sequence of doubles; the lines must hash to the published checksum.",
  unit: "numbers",
  sample: 100_000,
  full: 100_000_000,
  run: compareNumbers,
};

async function compareNumbers({ count, progress }: CampaignRound): Promise<CampaignOutcome> {
  const total = createHash("sha256");
  const reached: [string, string][] = [];
  const failures: string[] = [];
  let lines = "";
  let done = 0;
  for (const value of doubles()) {
    lines += `${bitsOf(value)},${canonicalJson(value)}\n`;
    done++;
    const expected = CHECKSUMS.get(done);
    if (expected === undefined && done % BATCH !== 0 && done !== count) continue;
    total.update(lines);
    lines = "";
    progress(done);
    await nextTurn();
    if (expected !== undefined) {
      const found = total.copy().digest("hex");
      reached.push([`SHA-256 of the first ${done} lines`, found]);
      if (found !== expected) failures.push(`the first ${done} lines hash to ${found}, not to ${expected}`);
    }
    if (done >= count) break;
  }
  if (!CHECKSUMS.has(count)) failures.push(`no checksum is published for ${count} numbers: ask for a power of ten`);
  return { done, facts: reached, failures };
}

function* doubles(): Generator<number> {
  const thirds = FIRST_THIRDS.split(" ").map(doubleOf);
  yield* ["0000000000000000", "8000000000000000", "0000000000000001", "8000000000000001"].map(doubleOf);
  yield* thirds.map((third) => -third);
  yield* thirds;
  yield* [10, 5, 0.5, 0.05, 0.005, 0.0005, 0.000_05, 0.000_005, 5e-7, 5e-8, 5e-9];
  for (let zeros = 1; zeros <= 15; zeros++) yield Number(`5.${"0".repeat(zeros)}6e-6`);
  yield* [1, -1];
  yield* FIRST_EDGES.split(" ").map(doubleOf);
  for (let index = 0; index < SERIAL; index++) yield Number.MIN_VALUE * (2 ** 52 + index);
  let block: Buffer = Buffer.alloc(32);
  for (;;) {
    block = hash("sha256", block, "buffer");
    for (let at = 0; at < 32; at += 8) {
      const value = block.readDoubleLE(at);
      if (value !== 0 && Number.isFinite(value)) yield value;
    }
  }
}

const view = new DataView(new ArrayBuffer(8));

function doubleOf(bits: string): number {
  view.setBigUint64(0, BigInt(`0x${bits}`));
  return view.getFloat64(0);
}

/** In hex without leading zeros. */
function bitsOf(value: number): string {
  view.setFloat64(0, value);
  const high = view.getUint32(0);
  const low = view.getUint32(4).toString(16);
  return high === 0 ? low : high.toString(16) + low.padStart(8, "0");
}
