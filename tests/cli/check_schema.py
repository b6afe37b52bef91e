#!/usr/bin/env python3
"""check_schema.py PAGE TITLE: compares each line of standard input with a schema in a page of docs/.

It is the last block of JSON there whose title begins with TITLE."""
import json
import re
import sys

import jsonschema


def main():
    page = open(sys.argv[1], encoding="utf-8").read()
    blocks = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```", page, re.S | re.M)]
    schema = [block for block in blocks if block["title"].startswith(sys.argv[2])][-1]
    jsonschema.Draft202012Validator.check_schema(schema)
    lines = 0
    for line in sys.stdin:
        jsonschema.Draft202012Validator(schema).validate(json.loads(line))
        lines += 1
    print(lines, "lines agree")


if __name__ == "__main__":
    main()
