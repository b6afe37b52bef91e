#!/usr/bin/env python3
"""fetch_kills.py GUFO [--kills N] [--size BYTES]: kills gufo fetch at random moments, and lets it go on.

After each kill the same command must end with the right file, and ask the server for no more than what was
missing and 4 MiB.  What was missing is seen in OUT.part itself: the file is random, so a block that is equal
has come."""
import argparse
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

BLOCK = 4096
ALLOWED = 4 << 20


def start_server(folder, log):
    server = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "server.py"),
                               folder, "--log", log], stdout=subprocess.PIPE, text=True)
    return server, "http://127.0.0.1:%d" % int(server.stdout.readline())


def count_same(part, data):
    """Bytes of blocks that have come."""
    if not os.path.exists(part):
        return 0
    with open(part, "rb") as file:
        have = file.read()
    return sum(len(data[i:i + BLOCK]) for i in range(0, len(data), BLOCK) if have[i:i + BLOCK] == data[i:i + BLOCK])


def count_asked(log):
    asked = 0
    with open(log, encoding="utf-8") as file:
        for line in file:
            match = re.fullmatch(r"bytes=(\d+)-(\d+)", json.loads(line)["headers"].get("range", ""))
            asked += int(match[2]) - int(match[1]) + 1 if match else 0
    return asked


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gufo")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--size", type=int, default=100 << 20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    gufo = os.path.abspath(options.gufo)
    caught = most = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        data = os.urandom(options.size)
        os.mkdir("files")
        with open("files/big.bin", "wb") as file:
            file.write(data)
        server, host = start_server("files", "log")
        command = [gufo, "fetch", "-q", host + "/ok/big.bin", "--sha256", hashlib.sha256(data).hexdigest(), "out"]
        begun = time.monotonic()
        subprocess.run(command, check=True)
        usual = time.monotonic() - begun
        for kill in range(4 * options.kills):
            if caught == options.kills:
                break
            os.remove("out")
            child = subprocess.Popen(command)
            time.sleep(dice.uniform(0, usual))
            child.send_signal(signal.SIGKILL)
            if child.wait() != -signal.SIGKILL or os.path.exists("out"):
                continue
            caught += 1
            time.sleep(0.05)  # the server notes what it sent to the one that is gone
            missing = options.size - count_same("out.part", data)
            open("log", "w").close()
            subprocess.run(command, check=True)
            time.sleep(0.05)
            extra = count_asked("log") - missing
            most = max(most, extra)
            assert extra <= ALLOWED, "kill %d: %d bytes more than were missing" % (kill, extra)
            with open("out", "rb") as file:
                assert file.read() == data, "kill %d: other bytes" % kill
            assert sorted(os.listdir(".")) == ["files", "log", "out"], os.listdir(".")
        server.kill()
        os.chdir("/")
    print("%d runs were killed before their end; at most %d bytes came twice" % (caught, most))
    assert caught == options.kills


if __name__ == "__main__":
    main()
