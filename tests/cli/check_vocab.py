#!/usr/bin/env python3
"""check_vocab.py GUFO FILE...: compares `gufo show --json` with what is in each file.

Reads GGUF by itself (version 3, little-endian, nothing but `struct`), and compares every key, type
and value: strings by their bytes, integers exactly, floats by their bits in their own width.
"""

import base64
import json
import math
import struct
import subprocess
import sys

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 10: "Q", 11: "q", 12: "d"}
BOOL, STRING, ARRAY = 7, 8, 9
NAMES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool", "string",
         "array", "uint64", "int64", "float64")
FLOATS = {"float32": "<f", "float64": "<d"}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        if size > len(self.data) - self.at:
            raise ValueError("file ends at %d" % self.at)
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def string(self):
        return self.take(self.number("Q"))

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == BOOL:
            return self.number("B") == 1
        if kind == ARRAY:
            return self.array()
        return self.number(NUMBERS[kind])

    def array(self):
        kind, count = self.number("I"), self.number("Q")
        return NAMES[kind], [self.value(kind) for _ in range(count)]


def read_file(path):
    """(entries, tensors, data offset): entries are (key, type name, value)."""
    with open(path, "rb") as file:
        r = Reader(file.read())
    if r.take(4) != b"GGUF" or r.number("I") != 3:
        raise ValueError("not GGUF version 3")
    tensor_count, entry_count = r.number("Q"), r.number("Q")
    entries, tensors = [], []
    for _ in range(entry_count):
        key, kind = r.string(), r.number("I")
        entries.append((key, NAMES[kind], r.value(kind)))
    for _ in range(tensor_count):
        name = r.string()
        dims = [r.number("Q") for _ in range(r.number("I"))]
        tensors.append((name, dims, r.number("I"), r.number("Q")))
    return entries, tensors, r.at


def bytes_of(text):
    """The bytes of a string of the JSON output."""
    if isinstance(text, dict):
        if list(text) != ["base64"]:
            raise ValueError("not a string: %r" % (text,))
        raw = base64.b64decode(text["base64"], validate=True)
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            return raw
        raise ValueError("base64 for valid UTF-8: %r" % raw)
    return text.encode("utf-8")


def float_bits(kind, number):
    if isinstance(number, str):
        if number not in ("nan", "inf", "-inf"):
            raise ValueError("not a float: %r" % number)
        number = float(number)
    if math.isnan(number):
        return "nan"
    return struct.pack(FLOATS[kind], number)


def same(kind, found, expected):
    if kind == "string":
        return bytes_of(found) == expected
    if kind in FLOATS:
        return float_bits(kind, found) == float_bits(kind, expected)
    if kind == "array":
        return same_array(found, expected)
    return type(found) is type(expected) and found == expected


def same_array(found, expected):
    kind, values = expected
    return (found["type"] == "array" and found["element_type"] == kind
            and found["count"] == len(values) == len(found["value"])
            and all(same(kind, f, e) for f, e in zip(found["value"], values)))


def check(condition, what):
    if not condition:
        raise ValueError(what)


def check_entry(found, expected):
    key, kind, value = expected
    label = key.decode("ascii")
    check(found["type"] == kind, "%s: type %r" % (label, found["type"]))
    members = {"type", "element_type", "count", "value"} if kind == "array" else {
        "type", "value"}
    check(set(found) == members, "%s: members %s" % (label, sorted(found)))
    check(same(kind, found if kind == "array" else found["value"], value),
          "%s: the value differs" % label)


def check_file(gufo, path):
    entries, tensors, end = read_file(path)
    output = subprocess.run([gufo, "show", "--json", path], check=True, capture_output=True).stdout
    check(output.count(b"\n") == 1 and output.endswith(b"\n"), "not one line")
    found = json.loads(output.decode("utf-8"))
    check(found["path"] == path and found["version"] == 3, "path or version")
    check(found["byte_order"] == "little", "byte order")
    check(len(found["metadata"]) == len(entries), "%d entries" % len(found["metadata"]))
    for (key, got), expected in zip(found["metadata"].items(), entries):
        check(bytes_of(key) == expected[0], "key %s: found %r" % (expected[0], key))
        check_entry(got, expected)
    check(len(found["tensors"]) == len(tensors), "%d tensors" % len(found["tensors"]))
    for got, (name, dims, _, offset) in zip(found["tensors"], tensors):
        check(bytes_of(got["name"]) == name and got["dims"] == dims, "tensor %r" % name)
        check(got["offset"] == found["data_offset"] + offset, "offset of tensor %r" % name)
    check(found["data_offset"] == -(-end // found["alignment"]) * found["alignment"], "data offset")
    return len(entries), sum(len(v[1]) for _, k, v in entries if k == "array")


def main():
    status = 0
    for path in sys.argv[2:]:
        try:
            print("%s: %d entries, %d array elements agree" % ((path,) + check_file(sys.argv[1], path)))
        except (ValueError, KeyError, subprocess.CalledProcessError) as error:
            print("%s: %s" % (path, error))
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
