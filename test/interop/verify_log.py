"""Verifies the Merkle log of a home, and proofs from it, by docs/formats/log.md and the RFCs alone.

Only the standard library, an Ed25519 from python3-cryptography, and the BLAKE3 beside this file.

    verify_log.py home DIR [VERIFIER_KEY]
    verify_log.py inclusion FILE VERIFIER_KEY
    verify_log.py consistency FILE VERIFIER_KEY

Prints one line of JSON. Exit code 0 says that everything holds, 1 that something does not.
"""

import base64
import hashlib
import json
import pathlib
import sqlite3
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from blake3 import blake3

RECORD_TAG = b"narthex/record/v1".ljust(32, b"\0")
CHECKPOINT_SIGNED, LOG_KEY_ANNOUNCED = 34, 47


class Refused(Exception):
    pass


def require(holds, reason):
    if not holds:
        raise Refused(reason)


def unbase64(text):
    data = base64.b64decode(text, validate=True)
    require(base64.b64encode(data).decode() == text, "base64 in another form")
    return data


# Keys and notes


class Key:
    def __init__(self, text):
        self.text = text
        self.name, self.id, encoded = text.split("+", 2)
        typed = unbase64(encoded)
        require(len(typed) == 33 and typed[0] == 1, "no Ed25519 key")
        expected = hashlib.sha256(self.name.encode() + b"\n" + typed).digest()[:4].hex()
        require(self.id == expected, "the key's id is not that of the key")
        self.public = Ed25519PublicKey.from_public_bytes(typed[1:])

    def require_signed(self, text, signature):
        try:
            self.public.verify(signature, text.encode())
        except InvalidSignature:
            raise Refused("a signature is not by the key") from None


class Checkpoint:
    def __init__(self, note, key):
        text, _, signatures = note.partition("\n\n")
        text += "\n"
        origin, size, root = text.splitlines()
        require(origin == key.name, "a checkpoint of another log")
        require(str(int(size)) == size, "a size in another form")
        self.size, self.root = int(size), unbase64(root)
        for line in signatures.splitlines():
            dash, name, encoded = line.split(" ")
            signed = unbase64(encoded)
            if dash == "\u2014" and name == key.name and signed[:4].hex() == key.id:
                key.require_signed(text, signed[4:])
                return
        raise Refused("no signature by the key")


# RFC 6962, section 2.1


def leaf_hash(data):
    return hashlib.sha256(b"\0" + data).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def tree_hash(leaves):
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_hash(tree_hash(leaves[:split]), tree_hash(leaves[split:]))


# RFC 9162, sections 2.1.3.2 and 2.1.4.2


def root_from_inclusion(index, size, leaf, path):
    require(index < size, "the record is not covered")
    place, last, result = index, size - 1, leaf
    for sibling in path:
        require(last != 0, "the path is too long")
        if place & 1 or place == last:
            result = node_hash(sibling, result)
            while not place & 1 and place != 0:
                place, last = place >> 1, last >> 1
        else:
            result = node_hash(result, sibling)
        place, last = place >> 1, last >> 1
    require(last == 0, "the path is too short")
    return result


def require_consistent(older, newer, path):
    require(0 < older.size <= newer.size, "the sizes do not fit")
    if older.size == newer.size:
        require(not path and older.root == newer.root, "one size and two roots")
        return
    require(path, "there is no path")
    if older.size & (older.size - 1) == 0:
        path = [older.root] + path
    place, last = older.size - 1, newer.size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    first = second = path[0]
    for sibling in path[1:]:
        require(last != 0, "the path is too long")
        if place & 1 or place == last:
            first, second = node_hash(sibling, first), node_hash(sibling, second)
            while not place & 1 and place != 0:
                place, last = place >> 1, last >> 1
        else:
            second = node_hash(second, sibling)
        place, last = place >> 1, last >> 1
    require(last == 0, "the path is too short")
    require(first == older.root, "the path does not lead to the older root")
    require(second == newer.root, "the path does not lead to the newer root")


# Records


def fields_of(data):
    """The fields of a protobuf message: numbers and bytes by field number, in order."""
    fields, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            fields.append((tag >> 3, varint()))
        else:
            require(tag & 7 == 2, "a wire type that no record has")
            length = varint()
            require(at + length <= len(data), "a field that is cut off")
            fields.append((tag >> 3, data[at : at + length]))
            at += length
    return fields


def record_hash(record):
    return blake3(RECORD_TAG + record)


def read_records(home):
    database = sqlite3.connect(f"file:{home}/store/records.db?mode=ro", uri=True)
    hashes, heads, notes = [], {}, []
    for index, stored, record in database.execute("SELECT idx, hash, record FROM records ORDER BY idx"):
        require(index == len(hashes), f"record {len(hashes)} is missing")
        digest = record_hash(record)
        require(digest == stored, f"record {index} does not have its hash")
        fields = dict(fields_of(record))
        require(fields.get(2, 0) == index, f"record {index} says that it is another")
        sequence, previous = heads.get(fields[3], (-1, b""))
        require(fields.get(4, 0) == sequence + 1, f"record {index} is not the next of its chain")
        require(fields.get(7, b"") == previous, f"record {index} does not follow the one before it in its chain")
        heads[fields[3]] = (sequence + 1, digest)
        for number, entry in fields_of(record):
            for kind, value in fields_of(entry) if number == 9 else []:
                if kind in (CHECKPOINT_SIGNED, LOG_KEY_ANNOUNCED):
                    notes.append((kind, index, dict(fields_of(value))))
        hashes.append(digest)
    return hashes, notes


def check_home(home, trusted):
    hashes, notes = read_records(home)
    leaves = [leaf_hash(digest) for digest in hashes]
    key, seen, size, roots = None, trusted is None, 0, 0
    for kind, index, value in notes:
        if kind == LOG_KEY_ANNOUNCED:
            announced = Key(value[1].decode())
            require(value.get(2, b"").decode() == (key.text if key else ""), "a key that does not follow")
            require(value.get(3, 0) == size, "a hand-over at another size")
            text = f"narthex/log-key/v1\n{key.text if key else 'none'}\n{announced.text}\n{size}\n"
            announced.require_signed(text, value[4])
            if key is not None:
                key.require_signed(text, value[5])
            key = announced
            seen = seen or key.text == trusted
            continue
        require(key is not None, "a checkpoint before a key")
        require(size < value[1] <= index, "a checkpoint of a size that does not fit")
        size = value[1]
        require(tree_hash(leaves[:size]) == value[2], f"the records do not give the root of the checkpoint of size {size}")
        text = f"{key.name}\n{size}\n{base64.b64encode(value[2]).decode()}\n"
        require(value[3].decode() == key.id, "a checkpoint by another key")
        key.require_signed(text, value[4])
        roots += 1
    require(key is not None and seen, "nothing leads to the trusted key")
    shown = Checkpoint((pathlib.Path(home) / "log" / "checkpoint").read_text(), key)
    require(shown.size <= len(leaves), "the newest checkpoint covers records that are not there")
    require(tree_hash(leaves[: shown.size]) == shown.root, "the newest checkpoint has another root")
    return {"records": len(hashes), "checkpoints": roots, "size": shown.size, "tiles": check_tiles(home, leaves, shown.size)}


def check_tiles(home, leaves, size):
    count, hashes, level = 0, leaves[:size], 0
    while hashes:
        above = []
        for number in range(0, len(hashes), 256):
            some = hashes[number : number + 256]
            path = f"{home}/log/tile/{level}/{tile_number(number // 256)}" + ("" if len(some) == 256 else f".p/{len(some)}")
            require(pathlib.Path(path).read_bytes() == b"".join(some), f"the tile {path} says something else")
            count += 1
            if len(some) == 256:
                above.append(tree_hash(some))
        hashes, level = above, level + 1
    return count


def tile_number(number):
    groups = [f"{number % 1000:03}"]
    while number >= 1000:
        number //= 1000
        groups.insert(0, f"x{number % 1000:03}")
    return "/".join(groups)


# Proofs


def check_inclusion(text, key):
    head, _, note = text.partition("\n\n")
    lines = head.splitlines()
    require(lines.pop(0) == "c2sp.org/tlog-proof@v1", "no proof of inclusion")
    require(lines[0].startswith("extra "), "the record is not with the proof")
    record = unbase64(lines.pop(0)[len("extra ") :])
    index = int(lines.pop(0)[len("index ") :])
    checkpoint = Checkpoint(note, key)
    require(dict(fields_of(record)).get(2, 0) == index, "the record has another index")
    root = root_from_inclusion(index, checkpoint.size, leaf_hash(record_hash(record)), [unbase64(line) for line in lines])
    require(root == checkpoint.root, "the path does not lead to the signed root")
    return {"index": index, "size": checkpoint.size}


def check_consistency(text, key):
    head, older_text, older_signatures, newer_text, newer_signatures = text.split("\n\n")
    lines = head.splitlines()
    require(lines.pop(0) == "narthex/log-consistency/v1", "no proof of consistency")
    older = Checkpoint(f"{older_text}\n\n{older_signatures}\n", key)
    newer = Checkpoint(f"{newer_text}\n\n{newer_signatures}", key)
    require_consistent(older, newer, [unbase64(line) for line in lines])
    return {"from": older.size, "to": newer.size}


def main(what, where, key=None):
    if what == "home":
        return check_home(where, key)
    text = pathlib.Path(where).read_text()
    return {"inclusion": check_inclusion, "consistency": check_consistency}[what](text, Key(key))


try:
    print(json.dumps({"ok": main(*sys.argv[1:])}))
except (Refused, ValueError, KeyError, IndexError, OSError, sqlite3.Error) as refused:
    print(json.dumps({"refused": str(refused)}))
    sys.exit(1)
