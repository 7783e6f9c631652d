#!/usr/bin/env python3
"""Checks a proof bundle of Strongroom with Python's standard library alone.

    check_bundle.py BUNDLE [--public-key KEY-OR-FILE] [--show]

docs/proofs.md specifies what is checked; this file shares no code with the program that wrote the bundle. It ends
with 0 when everything in the bundle holds, and with 3 and the first thing that does not.
"""

import argparse
import base64
import hashlib
import json
import re
import struct
import sys


class Refused(Exception):
    """The bundle does not hold."""


def need(condition, why):
    if not condition:
        raise Refused(why)


# --- Ed25519, RFC 8032, section 5.1.7; small orders and other spellings of points are refused ---

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def recover_x(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    if square == 0:
        return None if sign else 0
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P:
        return None
    return P - x if (x & 1) != sign else x


def add(one, two):
    a = (one[1] - one[0]) * (two[1] - two[0]) % P
    b = (one[1] + one[0]) * (two[1] + two[0]) % P
    c = 2 * one[3] * two[3] * D % P
    d = 2 * one[2] * two[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(number, point):
    total = (0, 1, 1, 0)
    while number:
        if number & 1:
            total = add(total, point)
        point = add(point, point)
        number >>= 1
    return total


def same(one, two):
    return (one[0] * two[2] - two[0] * one[2]) % P == 0 and (one[1] * two[2] - two[1] * one[2]) % P == 0


def point_of(raw):
    number = int.from_bytes(raw, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    x = recover_x(y, sign) if y < P else None
    return None if x is None else (x, y, 1, x * y % P)


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recover_x(BASE_Y, 0), BASE_Y, 1, recover_x(BASE_Y, 0) * BASE_Y % P)
NEUTRAL = (0, 1, 1, 0)


def signature_holds(key, message, signature):
    a, r = point_of(key), point_of(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L or same(times(8, a), NEUTRAL) or same(times(8, r), NEUTRAL):
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    return same(times(s, BASE), add(r, times(k, a)))


# --- Signed notes, C2SP ---


def from_base64(text):
    try:
        raw = base64.b64decode(text, validate=True)
    except (ValueError, TypeError) as error:
        raise Refused("bytes are not in base64") from error
    need(base64.b64encode(raw).decode() == text, "bytes are not in base64")
    return raw


class Key:
    def __init__(self, text):
        match = re.fullmatch(r"([^\s+]+)\+([0-9a-f]{8})\+(\S+)", text)
        need(match, "this is no public key of a signed note")
        self.text, self.name = text, match[1]
        raw = from_base64(match[3])
        need(len(raw) == 33 and raw[0] == 1, "this is no Ed25519 key")
        self.raw = raw[1:]
        self.id = hashlib.sha256(self.name.encode() + b"\n" + raw).digest()[:4]
        need(self.id.hex() == match[2], "the id of the key is not what it is made of")

    def open(self, note):
        """The text of a note that this key signed."""
        text, cut, lines = note.rpartition("\n\n")
        need(cut and lines.endswith("\n"), "this is no signed note")
        text += "\n"
        for line in lines[:-1].split("\n"):
            match = re.fullmatch("\u2014 ([^\\s+]+) (\\S+)", line)
            need(match, "this is no signed note")
            blob = from_base64(match[2])
            need(len(blob) == 68, "this is no signed note")
            if match[1] == self.name and blob[:4] == self.id:
                need(signature_holds(self.raw, text.encode(), blob[4:]), "the signature does not hold")
                return text
        raise Refused(f"the note is not signed by {self.name}")


# --- Hashes: RFC 6962 ---


def sha256(raw):
    return hashlib.sha256(raw).digest()


def leaf_hash(raw):
    return sha256(b"\0" + raw)


def node_hash(left, right):
    return sha256(b"\1" + left + right)


def tree_root(leaves):
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return node_hash(tree_root(leaves[:split]), tree_root(leaves[split:]))


def included(leaf, number, size, path, root):
    if not 0 <= number < size:
        return False
    at, last, found = number, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if at % 2 or at == last:
            found = node_hash(sibling, found)
            while at % 2 == 0 and at:
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and found == root


def hash_of_parts(*parts):
    return sha256(b"".join(struct.pack(">Q", len(part)) + part for part in parts))


# --- Journal entries and records: docs/archive-format.md, sections 5 and 6 ---


class Reader:
    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def take(self, count):
        need(self.at + count <= len(self.raw), "an entry or record ends too early")
        self.at += count
        return self.raw[self.at - count : self.at]

    def number(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(">" + form)))[0]

    def text(self):
        try:
            return self.take(self.number("I")).decode()
        except UnicodeDecodeError as error:
            raise Refused("a text is not UTF-8") from error

    def items(self, read):
        return [read() for _ in range(self.number("I"))]

    def option(self, read):
        flag = self.number("B")
        need(flag in (0, 1), "an option is neither absent nor present")
        return read() if flag else None

    def retention(self):
        kind = self.number("B")
        need(kind in (0, 1, 2), "this is no kind of retention")
        return self.number("q") if kind == 1 else None

    def order(self):
        return self.text(), self.text(), self.number("q")

    def cut(self):
        start, end = self.number("Q"), self.number("Q")
        self.take(32), self.order()
        need(start <= end, "a range ends before it begins")
        return start, end

    def end(self):
        need(self.at == len(self.raw), "bytes stand behind the end of an entry or record")


def read_entry(raw):
    """Kind and fields of an entry; of kinds that no proof needs, the kind alone."""
    reader = Reader(raw)
    need(reader.number("B") == 1, "the version of an entry is not known")
    kind = reader.number("B")
    if kind == 1:
        fields = reader.take(32)
    elif kind == 2:
        reader.retention()
        fields = reader.items(lambda: (reader.take(32), reader.number("I")))
    elif kind == 5:
        fields = (reader.take(32), reader.text())
        reader.text(), reader.option(reader.text), reader.take(32)
    elif kind == 6:
        names = ("source", "number", "id", "relation", "shared", "len", "pieces", "at")
        forms = ("32s", "I", "32s", "B", "I", "Q", "I", "q")
        fields = {name: reader.number(form) for name, form in zip(names, forms)}
    elif kind == 7:
        fields = (reader.take(16), reader.take(32))
    elif kind == 15:
        fields = (reader.take(16), reader.take(32))
        reader.order()
    elif kind == 16:
        fields = (reader.take(32), reader.take(32), reader.items(reader.cut))
    else:
        raise Refused(f"an entry of kind {kind} has no place in a bundle")
    reader.end()
    return kind, fields


def read_span(reader):
    ordinal, _ = reader.number("I"), reader.text()
    ranges = lambda: (reader.take(32), reader.items(lambda: (reader.number("Q"), reader.number("Q"))))
    location = reader.option(ranges)
    digest = reader.take(32)
    reader.take(32)
    if reader.number("B"):
        reader.text()
    else:
        reader.items(lambda: (reader.text(), reader.number("I")))
    reader.text(), reader.retention(), reader.option(reader.text), reader.number("B")
    return ordinal, location, digest


def read_record(raw):
    """The tag of a record, and its spans by number."""
    reader = Reader(raw)
    need(reader.number("B") == 1, "the version of a record is not known")
    tag = reader.take(16)
    reader.take(64), reader.text(), reader.number("I"), reader.items(lambda: reader.take(16))
    reader.take(32), reader.text()
    spans = reader.items(lambda: read_span(reader))
    reader.items(lambda: reader.take(32)), reader.number("q")
    reader.end()
    return tag, {ordinal: (location, digest) for ordinal, location, digest in spans}


# --- The bundle ---

FIELDS = "schema type key checkpoint entries revisions records pieces claims seal".split()


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def no_fraction(text):
    raise Refused(f"a bundle holds whole numbers, not {text}")


def shape(value, *names):
    need(isinstance(value, dict) and set(value) == set(names), "the fields of a bundle are not what they should be")
    return [value[name] for name in names]


def from_hex(text):
    need(isinstance(text, str) and re.fullmatch("[0-9a-f]{64}", text), "this is no digest")
    return bytes.fromhex(text)


def is_count(value):
    return type(value) is int and value >= 0


class Bundle:
    def __init__(self, text, known):
        try:
            fields = json.loads(text, parse_float=no_fraction, parse_constant=no_fraction)
        except (ValueError, RecursionError) as error:
            raise Refused("this is no bundle") from error
        shape(fields, *FIELDS)
        need(fields["type"] == "strongroom-proof" and fields["schema"] == 1, "the version of the bundle is not known")
        need(canonical(fields) + "\n" == text, "the bundle is not spelled as bundles are")
        self.key = Key(fields["key"])
        need(known is None or known.text == self.key.text, "the bundle is not signed by the key given")
        self.check_seal(dict(fields))
        self.read_checkpoint(self.key.open(fields["checkpoint"]))
        self.entries = self.read_entries(fields["entries"])
        self.revisions = dict(self.read_revision(*shape(one, "entry", "pieces")) for one in fields["revisions"])
        self.records = dict(self.read_record(*shape(one, "entry", "body")) for one in fields["records"])
        self.cuts = {}
        self.pieces = self.read_pieces(fields["pieces"])
        self.lines = [line for claim in fields["claims"] for line in self.check_claim(claim)]

    def check_seal(self, fields):
        seal = fields.pop("seal")
        digest = sha256(canonical(fields).encode()).hex()
        need(self.key.open(seal) == f"strongroom proof bundle\n{digest}\n", "the seal is that of another bundle")

    def read_checkpoint(self, text):
        match = re.fullmatch(r"strongroom/([0-9a-f]{64})\n(0|[1-9][0-9]*)\n(\S+)\n", text)
        need(match, "this is no checkpoint")
        self.archive, self.size, self.root = bytes.fromhex(match[1]), int(match[2]), from_base64(match[3])

    def read_entries(self, forms):
        entries = {}
        for form in forms:
            number, body, path = shape(form, "no", "body", "path")
            raw = from_base64(body)
            siblings = [from_hex(one) for one in path]
            held = is_count(number) and included(leaf_hash(raw), number, self.size, siblings, self.root)
            need(held, f"entry {number} is not in the journal of the checkpoint")
            need(number not in entries, f"entry {number} stands here twice")
            entries[number] = read_entry(raw)
        need(entries.get(0) == (1, self.archive), "entry 0 does not create the archive")
        return entries

    def fields_of(self, kind):
        return [fields for own, fields in self.entries.values() if own == kind]

    def read_revision(self, entry, listed):
        kind, own = self.entries.get(entry, (0, None))
        need(kind == 6, f"entry {entry} records no revision")
        pieces = [(from_hex(one), length) for one, length in (shape(piece, "id", "len") for piece in listed)]
        need(tree_root([one for one, _ in pieces]) == own["id"], "a revision is not made of these pieces")
        stored = {piece for fields in self.fields_of(2) for piece in fields}
        need(all(is_count(length) and (one, length) in stored for one, length in pieces), "a piece is not stored")
        need(sum(length for _, length in pieces) == own["len"], "a revision has another length")
        names = [name for source, name in self.fields_of(5) if source == own["source"]]
        need(names, "no entry names the source of a revision")
        made = hash_of_parts(b"strongroom.source.v1", self.archive, names[-1].encode())
        need(made == own["source"], "a source has another id")
        return own["id"], {"name": names[-1], "len": own["len"], "pieces": pieces}

    def read_record(self, entry, body):
        kind, own = self.entries.get(entry, (0, None))
        need(kind in (7, 15), f"entry {entry} binds no record")
        raw = from_base64(body)
        need(sha256(raw) == own[1], "a record differs from the hash in its entry")
        tag, spans = read_record(raw)
        need(tag == own[0], "a record names another tag")
        return tag, spans

    def read_pieces(self, forms):
        listed = {one for revision in self.revisions.values() for one, _ in revision["pieces"]}
        pieces = {}
        for form in forms:
            name, text = shape(form, "id", "bytes")
            one, raw = from_hex(name), from_base64(text)
            left = [cuts for piece, rest, cuts in self.fields_of(16) if (piece, rest) == (one, leaf_hash(raw))]
            need(leaf_hash(raw) == one or left, f"the bytes of piece {name} differ from its hash")
            need(one in listed and one not in pieces, f"piece {name} has no place here")
            pieces[one] = raw
            self.cuts[one] = left[0] if left else []
        return pieces

    def part(self, revision, start, end):
        """The bytes start..end of a revision."""
        need(is_count(start) and is_count(end) and start <= end <= revision["len"], "a range ends behind its source")
        at, found = 0, []
        for one, length in revision["pieces"]:
            first, last = max(start, at), min(end, at + length)
            if first < last:
                need(one in self.pieces, "bytes are claimed that are not here")
                touched = any(max(first - at, a) < min(last - at, b) for a, b in self.cuts[one])
                need(not touched, "bytes are claimed that were taken out by order")
                found.append(self.pieces[one][first - at : last - at])
            at += length
        raw = b"".join(found)
        need(len(raw) == end - start, "bytes are claimed that are not here")
        return raw

    def revision(self, identity):
        need(identity in self.revisions, f"revision {identity.hex()} is claimed and not proved")
        return self.revisions[identity]

    def check_claim(self, claim):
        kind = claim.get("kind") if isinstance(claim, dict) else None
        if kind == "span":
            return self.check_span(*shape(claim, "kind", "pointer")[1:])
        if kind == "source":
            revision = self.revision(from_hex(shape(claim, "kind", "revision")[1]))
            return [("source", revision["name"], self.part(revision, 0, revision["len"]))]
        need(kind == "answer", "a claim of this kind is not known")
        return self.check_answer(*shape(claim, "kind", "answer", "citations", "searched")[1:])

    def check_span(self, pointer):
        match = re.fullmatch("sr1:([0-9a-f]{32})#([1-9][0-9]*)", pointer) if isinstance(pointer, str) else None
        need(match, "this is no pointer")
        location, digest = self.records.get(bytes.fromhex(match[1]), {}).get(int(match[2]), (None, None))
        need(location, f"{pointer} is claimed and not proved")
        revision = self.revision(location[0])
        parts = [self.part(revision, start, end) for start, end in location[1]]
        need(sha256(b"strongroom/span/1\0" + b"".join(parts)) == digest, f"the bytes of {pointer} differ from their hash")
        return [(pointer, revision["name"], b"".join(parts))]

    def check_answer(self, answer, citations, searched):
        need(isinstance(answer, dict), "an answer has no fields")
        lines = [(f"answer: {answer.get('verdict')}: {answer.get('answer')}", answer.get("reading"), b"")]
        quoted = answer.get("citations") or []
        need(len(quoted) == len(citations), "an answer has more or fewer citations than are spoken for")
        for at, (cited, quote) in enumerate(zip(citations, quoted), 1):
            if cited.get("kind") == "open":
                why = shape(cited, "kind", "why")[1]
                lines.append((f"citation {at} is not shown: {why}", "", b""))
                continue
            _, identity, spelling = shape(cited, "kind", "revision", "spelling")
            need(cited["kind"] == "shown", "a citation of this kind is not known")
            revision = self.revision(from_hex(identity))
            raw = self.part(revision, *quote["bytes"])
            need(decoded(raw, spelling) == quote["quote"], f"citation {at} does not stand where it says")
            lines.append((f"citation {at}", revision["name"], raw))
        roots = {one["root"] for one in (answer.get("certificate") or {}).get("sources", []) if one.get("root")}
        need(roots <= set(searched), "the certificate names a source that is not proved")
        for one in searched:
            lines.append(("searched", self.revision(from_hex(one))["name"], b""))
        return lines


def decoded(raw, spelling):
    rounds = {"text": 0, "json": 1, "json-in-json": 2}
    need(spelling in rounds, "a spelling is not known")
    try:
        text = raw.decode()
        for _ in range(rounds[spelling]):
            text = json.loads('"' + text + '"')
            need(isinstance(text, str), "a citation is no text")
        return text
    except ValueError as error:
        raise Refused("a citation does not stand for its text") from error


def read_key(typed):
    try:
        return Key(typed)
    except Refused:
        with open(typed, encoding="utf-8") as file:
            return Key(file.read().strip())


def safe(text):
    return "".join(c if c.isprintable() else "\u00b7" for c in str(text))


def main():
    words = argparse.ArgumentParser(description="Checks a proof bundle of Strongroom.")
    words.add_argument("bundle")
    words.add_argument("--public-key", help="the key that must have signed it: the key itself, or a file")
    words.add_argument("--show", action="store_true", help="print the originals too")
    typed = words.parse_args()
    try:
        known = read_key(typed.public_key) if typed.public_key else None
        with open(typed.bundle, "rb") as file:
            text = file.read().decode()
        bundle = Bundle(text, known)
    except OSError as why:
        print(f"error: {safe(why.filename)}: {safe(why.strerror)}", file=sys.stderr)
        return 3
    except Refused as why:
        print(f"refused: {safe(why)}", file=sys.stderr)
        return 3
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, struct.error, RecursionError) as why:
        # Fields of another kind than they should be.
        print(f"refused: this is no bundle ({type(why).__name__})", file=sys.stderr)
        return 3
    print(f"holds: signed by {bundle.key.text}, journal of archive {bundle.archive.hex()[:12]} with {bundle.size} entries")
    for what, where, raw in bundle.lines:
        print(safe(what), safe(where), f"{len(raw)} bytes" if raw else "")
        if typed.show:
            for line in raw.decode(errors="replace").splitlines():
                print("   ", safe(line))
    if known is None:
        print("warning: no --public-key; the key stands in the bundle alone, and whoever made the one can have made the other", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
