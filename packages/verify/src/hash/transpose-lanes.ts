import { type Code, getLocal, shuffleWords, setLocal } from "./wasm-code.ts";

/**
 * Transposes four vectors with one lane each to four vectors with one word each, or the reverse. Needs four more
 * locals.
 */
export function transpose(first: number, use: (n: number, value: Code) => Code): Code {
  const [a, b, c, d] = [0, 1, 2, 3].map((n) => getLocal(first + n)) as [Code, Code, Code, Code];
  const low = [0, 4, 1, 5];
  const high = [2, 6, 3, 7];
  const pairs = first + 4;
  return [
    [a, b, shuffleWords(low), setLocal(pairs), a, b, shuffleWords(high), setLocal(pairs + 1)],
    [c, d, shuffleWords(low), setLocal(pairs + 2), c, d, shuffleWords(high), setLocal(pairs + 3)],
    use(0, [getLocal(pairs), getLocal(pairs + 2), shuffleWords([0, 1, 4, 5])]),
    use(1, [getLocal(pairs), getLocal(pairs + 2), shuffleWords([2, 3, 6, 7])]),
    use(2, [getLocal(pairs + 1), getLocal(pairs + 3), shuffleWords([0, 1, 4, 5])]),
    use(3, [getLocal(pairs + 1), getLocal(pairs + 3), shuffleWords([2, 3, 6, 7])]),
  ];
}
