"""BLAKE3 with 32 bytes of output, written from its paper: for tests that trust no other implementation."""

import struct

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
MASK = 0xFFFFFFFF


def blake3(data: bytes) -> bytes:
    chunks = [data[at : at + 1024] for at in range(0, len(data), 1024)] or [b""]
    if len(chunks) == 1:
        return struct.pack("<8I", *chunk(chunks[0], 0, ROOT))
    return struct.pack("<8I", *subtree(chunks, 0, ROOT))


def subtree(chunks, first, root):
    if len(chunks) == 1:
        return chunk(chunks[0], first, 0)
    split = 1
    while split * 2 < len(chunks):
        split *= 2
    children = subtree(chunks[:split], first, 0) + subtree(chunks[split:], first + split, 0)
    return compress(IV, children, 0, 64, PARENT | root)


def chunk(data, counter, root):
    blocks = [data[at : at + 64] for at in range(0, len(data), 64)] or [b""]
    value = IV
    for number, block in enumerate(blocks):
        flags = CHUNK_START if number == 0 else 0
        if number == len(blocks) - 1:
            flags |= CHUNK_END | root
        words = struct.unpack("<16I", block.ljust(64, b"\0"))
        value = compress(value, words, counter, len(block), flags)
    return value


def compress(value, words, counter, length, flags):
    state = list(value) + list(IV[:4]) + [counter & MASK, counter >> 32, length, flags]
    words = tuple(words)
    for _ in range(7):
        for number, places in enumerate(COLUMNS + DIAGONALS):
            mix(state, places, words[2 * number], words[2 * number + 1])
        words = tuple(words[place] for place in PERMUTATION)
    return tuple(state[i] ^ state[i + 8] for i in range(8))


def mix(state, places, x, y):
    a, b, c, d = places
    for word, first, second in ((x, 16, 12), (y, 8, 7)):
        state[a] = (state[a] + state[b] + word) & MASK
        state[d] = rotate(state[d] ^ state[a], first)
        state[c] = (state[c] + state[d]) & MASK
        state[b] = rotate(state[b] ^ state[c], second)


def rotate(word, bits):
    return ((word >> bits) | (word << (32 - bits))) & MASK
