#!/usr/bin/env python3
"""server.py FOLDER: an HTTP server on loopback that misbehaves as its addresses say.

    server.py FOLDER [--tls CERT KEY] [--log FILE] [--page N] [--lifetime SECONDS]

It prints two ports, a line each, when it accepts connections: its own, and that of a second server, which is the
"other host" of redirects (plain HTTP always, also with --tls).  Both answer the same addresses.

    /FAULT/.../FILE    FILE of FOLDER.  A fault is NAME or NAME-N, with a number; several may follow each other:
                       /slow-100000/no-etag/model.gguf.  FAULTS below lists them; /ok does nothing.
    /hf/               Hugging Face over FOLDER/NAMESPACE/NAME/PATH; use it as HF_ENDPOINT.  Large files redirect to
                       the second server.  Faults may stand before it: /503x2/hf/...
                       Namespaces: `gated` 403, `private` 401 without "Bearer good-token", `expiring` has redirects
                       that a CDN accepts once.  Lists have pages of --page files.
    /ollama/           a registry over a store of ollama: FOLDER/manifests/HOST/NAMESPACE/MODEL/TAG, FOLDER/blobs.
    /ms/               ModelScope over FOLDER/NAMESPACE/NAME/PATH
    /random-N/FILE     (or /random/FILE?seed=N)  Each answer has a fault that N chooses, or none; whatever it is, a
                       careful reader either gets the right bytes or sees that it did not.
    /-/log             the requests so far, as JSON lines; also appended to --log.  /-/counts: {"requests", "bytes"}.
    /-/reset           forgets both, and how often a fault has happened

A line of the log: port, method, path, query, headers (lower-case names), status, location, sent (bytes of the body).
CONNECT and absolute addresses work, so that the server is a proxy as well; such lines have "proxy": true.

The ETag of a file is made of its inode, size and time, so a test that replaces a file gets another one."""
import argparse
import email.utils
import functools
import hashlib
import json
import os
import random
import re
import select
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REVISIONS = {"main", "refs/pr/1", "refs%2Fpr%2F1", COMMIT}
LARGE = (".gguf", ".safetensors", ".bin")
BLOCK = 1 << 16

lock = threading.Lock()
log = []
counts = {"requests": 0, "bytes": 0}
times = {}  # how often an address was asked for
options = None
ports = []


def count_time(key):
    """How often this was called before with `key`."""
    with lock:
        times[key] = times.get(key, 0) + 1
        return times[key] - 1


class Reply:
    """An answer, as faults change it: a file's bytes, or `text`."""

    def __init__(self, status=200, text=b"", **headers):
        self.status, self.text = status, text
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.file = None  # a path
        self.size = 0  # of the file
        self.total = None  # what Content-Range says
        self.first = self.count = 0
        self.ask = None  # (first, last) that Range names, or None
        self.ranges = self.etag = True
        self.extra = b""  # bytes after those that are due
        self.skew = 0  # the body comes from so many bytes further on
        self.cut = None  # the connection ends after so many bytes
        self.stall = None  # nothing comes after so many bytes
        self.rate = None  # bytes per second
        self.reset = self.chunked = False
        self.hush = None  # the connection ends after so many milliseconds without an answer
        self.dribble = 0  # so many lines of headers come one by one, 20 ms apart


# ---- faults: name -> function(reply, n, request).  Those of EARLY change what a file answers to a range. ------------


def set_field(**fields):
    """A fault that sets fields of the reply; N stands for its number."""

    def fault(reply, n, request):
        for name, value in fields.items():
            setattr(reply, name, n if value == "N" else value)

    return fault


def set_etag(make):
    def fault(reply, n, request):
        reply.headers["ETag"] = make(reply.headers.get("ETag", '""'), n, request)

    return fault


def drop(*names):
    def fault(reply, n, request):
        for name in names:
            reply.headers.pop(name, None)
        if "ETag" in names:
            reply.etag = False

    return fault


def changes_after(reply, n, request):
    if count_time(("etag", request.path)) >= n:
        reply.headers["ETag"] = '"other"'


def replaced_after(reply, n, request):
    """FILE.new instead, as if FILE had been replaced."""
    if reply.file and count_time(("replaced", request.path)) >= n:
        take_file(reply, reply.file + ".new")


EARLY = {
    "norange": set_field(ranges=False),  # 200 with everything
    "no-etag": drop("ETag"),
    "no-validators": drop("ETag", "Last-Modified"),
    "weak-etag": set_etag(lambda etag, n, request: "W/" + etag),
    "etag": set_etag(lambda etag, n, request: '"%d"' % n),
    "etag-changes-after": changes_after,  # after N requests, the content stays
    "replaced-after": replaced_after,
}


def total_changes(reply, n, request):
    if count_time(("total", request.path)) >= (1 if n is None else n):
        reply.total = reply.size + 1


def wrong_range(reply, n, request):
    """Bytes other than asked, and says so."""
    if reply.status == 206:
        reply.first = reply.first + 1 if reply.first + 1 < reply.size else 0
        reply.count = min(reply.count, reply.size - reply.first)


def multipart(reply, n, request):
    if reply.status == 206:
        become(reply, 206, b"--x\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-3/9\r\n\r\nGGUF\r\n--x--\r\n")
        reply.headers["Content-Type"] = "multipart/byteranges; boundary=x"


def gzip(reply, n, request):
    reply.headers["Content-Encoding"] = "gzip"


def become(reply, status, text, **headers):
    reply.status, reply.text, reply.file, reply.total = status, text, None, None
    reply.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def status(code):
    def fault(reply, n, request):
        become(reply, code, b"status %d\n" % code, Retry_After="0" if n is None else str(n))

    return fault


def redirect(make):
    def fault(reply, n, request):
        become(reply, 302, b"moved\n", Location=make(request, n))

    return fault


def redirects(reply, n, request):
    """N redirects, then the file."""
    steps = int(dict(urllib.parse.parse_qsl(request.query)).get("step", 0))
    if steps < n:
        become(reply, 302, b"moved\n", Location="?step=%d" % (steps + 1))


def not_satisfiable(reply, n, request):
    become(reply, 416, b"<html>416</html>\n", Content_Range="bytes */%d" % reply.size, Content_Type="text/html")


def html(reply, n, request):
    become(reply, 200, b"<html><body>Sign in to this network</body></html>\n", Content_Type="text/html")


def disposition(reply, n, request):
    reply.headers["Content-Disposition"] = 'attachment; filename="../../evil.gguf"; filename*=UTF-8\'\'%2Fevil.gguf'


def many_headers(reply, n, request):
    for i in range(200):
        reply.headers["X-Line-%d" % i] = "x" * 1000


def link_other(reply, n, request):
    if "Link" in reply.headers:
        reply.headers["Link"] = reply.headers["Link"].replace("127.0.0.1:%d" % ports[0], "localhost:%d" % ports[1])


def linked_etag_lies(reply, n, request):
    """The first N answers name another content."""
    if "X-Linked-Etag" in reply.headers and count_time(("linked", request.path)) < n:
        reply.headers["X-Linked-Etag"] = '"%064d"' % 0


def long_header(reply, n, request):
    reply.headers["X-Line"] = "x" * 200000


def other(request):
    return "http://localhost:%d" % ports[1]


LATE = {
    "ok": set_field(),
    "short": set_field(cut="N"),  # the connection ends after N bytes
    "reset": set_field(cut="N", reset=True),
    "stall": set_field(stall="N"),
    "slow": set_field(rate="N"),  # N bytes a second
    "chunked": set_field(chunked=True),  # 200 without Content-Length
    "longer": set_field(extra=b"more bytes than asked for"),
    "wrong-range": wrong_range,
    "lying-range": set_field(skew=1),  # other bytes than it says: only a hash can see that
    "total-changes": total_changes,  # after N requests
    "total-unknown": set_field(total="*"),
    "total-huge": set_field(total=1 << 63),
    "multipart": multipart,
    "gzip": gzip,
    "html-200": html,
    "416": not_satisfiable,
    "disposition": disposition,
    "many-headers": many_headers,
    "long-header": long_header,
    "link-other-host": link_other,
    "linked-etag-lies": linked_etag_lies,
    "hush": set_field(hush="N"),
    "dribble": set_field(dribble="N"),
    "redirects": redirects,
    "redirect-loop": redirect(lambda request, n: "?again=%d" % count_time("loop")),
    "redirect-relative": redirect(lambda request, n: "/" + request.rest),
    "redirect-http": redirect(lambda request, n: "http://127.0.0.1:%d/%s" % (ports[1], request.rest)),
    "redirect-other-host": redirect(lambda request, n: "%s/%s" % (other(request), request.rest)),
    "redirect-scheme": redirect(lambda request, n: "file:///etc/passwd"),
    "redirect-plain": redirect(lambda request, n: "http://nowhere.invalid/f?secret"),
    "redirect-path": redirect(lambda request, n: "/ok/..%2f..%2fevil.gguf"),
    "redirect-none": lambda reply, n, request: become(reply, 302, b"moved\n"),
}
# STATUS: always; STATUSxN: N times for each address, then the file.  The number of the fault is its Retry-After.
STATUS = re.compile(r"([345]\d\d)(?:x(\d+))?$")

RANDOM = [("short", 20000), ("short", 0), ("reset", 30000), ("503", None), ("429", None), ("longer", None),
          ("wrong-range", None), ("total-changes", 0), ("multipart", None), ("gzip", None), ("html-200", None),
          ("416", None), ("norange", None), ("etag", 7), ("403", None), ("redirect-other-host", None), ("chunked", None)]


def random_faults(request, seed):
    """None for two answers of three."""
    number = count_time(("random", request.path))
    dice = random.Random("%s %s %d" % (seed, request.rest, number))
    return [dice.choice(RANDOM)] if dice.random() < 1 / 3 else []


def split_faults(request, path):
    """The faults in front of `path`, and what is left of it."""
    faults = []
    while True:
        name, _, rest = path.partition("/")
        match = re.fullmatch(r"(.+?)(?:-(\d+))?", name)
        if not match:
            return faults, path
        key, n = match[1], match[2]
        if name in EARLY or name in LATE:
            key, n = name, None
        n = int(n) if n else None
        if key == "random":
            request.rest = rest
            query = dict(urllib.parse.parse_qsl(request.query))
            faults += random_faults(request, query.get("seed", n))
        elif key in EARLY or key in LATE or STATUS.match(key):
            faults.append((key, n))
        else:
            return faults, path
        path = rest


def apply_fault(table, fault, reply, request):
    key, n = fault
    match = STATUS.match(key)
    if key in table:
        table[key](reply, n, request)
    elif table is LATE and match and (not match[2] or count_time((key, request.path)) < int(match[2])):
        status(int(match[1]))(reply, n, request)


# ---- files and services ---------------------------------------------------------------------------------------------


def take_file(reply, path):
    facts = os.stat(path)
    reply.file, reply.size = path, facts.st_size
    reply.headers["Last-Modified"] = email.utils.formatdate(facts.st_mtime, usegmt=True)
    if reply.etag:
        reply.headers["ETag"] = '"%x-%x-%x"' % (facts.st_ino, facts.st_size, facts.st_mtime_ns)


def file_reply(path):
    path = urllib.parse.unquote(path)
    full = os.path.join(options.folder, path)
    if ".." in path.split("/") or not os.path.isfile(full):
        return Reply(404, b"not found\n")
    reply = Reply()
    take_file(reply, full)
    return reply


def cut_range(reply, request):
    """What Range and If-Range make of the answer with a whole file."""
    headers = request.headers
    reply.count = reply.size
    if reply.ranges:
        reply.headers["Accept-Ranges"] = "bytes"
    etag = reply.headers.get("ETag")
    if etag and headers.get("If-None-Match") == etag:
        become(reply, 304, b"", ETag=etag)
        return
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", headers.get("Range", ""))
    if not match or not reply.ranges or match[0] == "bytes=-":
        return
    wanted = headers.get("If-Range")
    if wanted and (wanted != etag or wanted.startswith("W/")) and wanted != reply.headers.get("Last-Modified"):
        return
    if match[1]:
        first, last = int(match[1]), min(int(match[2] or reply.size - 1), reply.size - 1)
    else:
        first, last = max(0, reply.size - int(match[2])), reply.size - 1
    if first >= reply.size or first > last:
        not_satisfiable(reply, None, request)
        return
    reply.status, reply.first, reply.count, reply.total = 206, first, last + 1 - first, reply.size


def sha256(path):
    facts = os.stat(path)
    return sha256_of(path, facts.st_ino, facts.st_size, facts.st_mtime_ns)


@functools.lru_cache(maxsize=None)
def sha256_of(path, *facts):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(1 << 20):
            digest.update(data)
    return digest.hexdigest()


def git_sha1(path):
    with open(path, "rb") as file:
        data = file.read()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def json_reply(value, **headers):
    return Reply(200, json.dumps(value).encode(), Content_Type="application/json", **headers)


def refuse(code, error, message="refused"):
    return Reply(code, json.dumps({"error": message}).encode(), X_Error_Code=error, X_Error_Message=message)


def repository(request, namespace, name, revision):
    """Why this repository is not shown, or None."""
    folder = os.path.join(options.folder, namespace, name)
    if namespace == "private" and request.headers.get("Authorization") != "Bearer good-token":
        return refuse(401, "RepoNotFound", "Invalid username or password.")
    if not os.path.isdir(folder):
        return refuse(404 if request.headers.get("Authorization") else 401, "RepoNotFound", "Repository not found")
    if namespace == "gated" and request.headers.get("Authorization") != "Bearer good-token":
        return refuse(403, "GatedRepo", "Access to this model is restricted.")
    if revision not in REVISIONS:
        return refuse(404, "RevisionNotFound", "Invalid rev id: " + revision)
    return None


def files_of(namespace, name):
    top = os.path.join(options.folder, namespace, name)
    paths = sorted(os.path.relpath(os.path.join(folder, file), top) for folder, _, files in os.walk(top)
                   for file in files)
    return [(path, os.path.join(top, path)) for path in paths]


def hf_entry(path, full):
    entry = {"type": "file", "oid": git_sha1(full), "size": os.path.getsize(full), "path": path}
    if path.endswith(LARGE):
        entry["lfs"] = {"oid": sha256(full), "size": entry["size"], "pointerSize": 134}
    return entry


def hf_tree(request, namespace, name, revision):
    files = files_of(namespace, name)
    start = int(dict(urllib.parse.parse_qsl(request.query)).get("cursor", 0))
    reply = json_reply([hf_entry(*file) for file in files[start:start + options.page]])
    if start + options.page < len(files):
        scheme = "https" if options.tls and request.server.server_address[1] == ports[0] else "http"
        reply.headers["Link"] = '<%s://%s%s?recursive=true&cursor=%d>; rel="next"' % (
            scheme, request.headers["Host"], request.full_path, start + options.page)
    return reply


def hf_resolve(request, namespace, name, revision, path):
    full = os.path.join(options.folder, namespace, name, path)
    if not os.path.isfile(full) or ".." in path.split("/"):
        return refuse(404, "EntryNotFound", "Entry not found")
    if not path.endswith(LARGE):
        reply = file_reply("%s/%s/%s" % (namespace, name, path))
        reply.headers.update({"ETag": '"%s"' % git_sha1(full), "X-Repo-Commit": COMMIT})
        return reply
    ticket = count_time(("ticket", path))
    place = "%s/cdn/%d/%s/%s/%s?X-Amz-Signature=secret&response-content-disposition=attachment" % (
        other(request), ticket, namespace, name, urllib.parse.quote(path))
    digest = sha256(full)
    return Reply(302, b"moved\n", Location=place, X_Repo_Commit=COMMIT, X_Linked_Size=str(os.path.getsize(full)),
                 X_Linked_Etag='"%s"' % digest, X_Xet_Hash=digest[::-1], ETag='"%s"' % digest)


def cdn(request, ticket, namespace, rest):
    """Presigned addresses; those of `expiring` are good for one request."""
    if "X-Amz-Signature=secret" not in request.query:
        return Reply(403, b"<Error><Code>AccessDenied</Code></Error>")
    if namespace == "expiring" and count_time(("cdn", ticket, rest)) > 0:
        return Reply(403, b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>")
    return file_reply("%s/%s" % (namespace, rest))


def hf(request, path):
    kind = r"(?:models/|datasets/|spaces/)?"
    match = re.fullmatch(r"api/(?:models|datasets|spaces)/([^/]+)/([^/]+)/tree/(.+)", path)
    if match:
        return repository(request, *match.groups()) or hf_tree(request, *match.groups())
    match = re.fullmatch(r"api/(?:models|datasets|spaces)/([^/]+)/([^/]+)(?:/revision/(.+))?", path)
    if match:
        files = [{"rfilename": file} for file, _ in files_of(match[1], match[2])]
        return repository(request, match[1], match[2], match[3] or "main") or json_reply(
            {"id": "%s/%s" % (match[1], match[2]), "sha": COMMIT, "siblings": files})
    match = re.fullmatch(kind + r"([^/]+)/([^/]+)/resolve/(refs/(?:pr|convert)/[^/]+|[^/]+)/(.+)", path)
    if match:
        return repository(request, *match.groups()[:3]) or hf_resolve(request, *match.groups()[:3],
                                                                    urllib.parse.unquote(match[4]))
    return Reply(404, b"Not Found")


def ollama(request, path):
    """The registry; blobs redirect to the second server."""
    match = re.fullmatch(r"v2/([^/]+)/([^/]+)/manifests/([^/]+)", path)
    if match and match[1] == "private":
        return Reply(401, b"{}", WWW_Authenticate='Bearer realm="https://example.org/token",service="x",scope="y"')
    if match:
        for host in sorted(os.listdir(os.path.join(options.folder, "manifests"))):
            reply = file_reply("manifests/%s/%s/%s/%s" % (host, *match.groups()))
            if reply.file:
                reply.headers["Content-Type"] = "application/vnd.docker.distribution.manifest.v2+json"
                return reply
        return Reply(404, b'{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}')
    match = re.fullmatch(r"v2/[^/]+/[^/]+/blobs/sha256:([0-9a-f]{64})", path)
    if match:
        return Reply(307, b"", Location="%s/blobs/sha256-%s?X-Amz-Signature=secret" % (other(request), match[1]))
    return Reply(404, b"{}")


def ms(request, path):
    match = re.fullmatch(r"models/([^/]+)/([^/]+)/resolve/[^/]+/(.+)", path)
    if match and request.command == "HEAD":
        return Reply(405, b"")
    if match:
        return Reply(302, b"", Location="%s/%s/%s/%s?sign=secret" % (other(request), *match.groups()))
    match = re.fullmatch(r"api/v1/models/([^/]+)/([^/]+)/repo/files", path)
    if match:
        return json_reply({"Code": 200, "Success": True, "Data": {"Files": [
            {"Path": file, "Name": os.path.basename(file), "Size": os.path.getsize(full), "Sha256": sha256(full),
             "Type": "blob"} for file, full in files_of(*match.groups())]}})
    return Reply(404, b"{}")


def service(request, path):
    first, _, rest = path.partition("/")
    if first == "cdn":
        return cdn(request, *rest.split("/", 2))
    known = {"hf": hf, "ollama": ollama, "ms": ms}
    return known[first](request, rest) if first in known else file_reply(path)


def control(name):
    with lock:
        if name == "log":
            return Reply(200, "".join(json.dumps(line) + "\n" for line in log).encode())
        if name == "counts":
            return json_reply(counts)
        log.clear()
        times.clear()
        counts.update(requests=0, bytes=0)
        return Reply(200, b"")


# ---- the connection -------------------------------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "test", ""
    disable_nagle_algorithm = True
    wbufsize = 0

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        self.proxied = bool(address.scheme)
        self.full_path, self.query = address.path, address.query
        self.path = address.path
        path = address.path.lstrip("/")
        self.sent = 0
        if path.startswith("-/"):
            self.send(control(path[2:]))
            return
        try:
            reply = self.find_reply(path)
        except (OSError, ValueError) as problem:
            reply = Reply(500, str(problem).encode())
        with lock:
            counts["requests"] += 1
        try:
            self.send(reply)
        except OSError:
            self.close_connection = True
        finally:
            self.note(reply)

    do_HEAD = do_GET

    def find_reply(self, path):
        faults, self.rest = split_faults(self, path)
        reply = service(self, self.rest)
        if reply.file:
            for fault in faults:
                apply_fault(EARLY, fault, reply, self)
            cut_range(reply, self)
        for fault in faults:
            apply_fault(LATE, fault, reply, self)
        return reply

    def note(self, reply):
        line = {"port": self.server.server_address[1], "method": self.command, "path": self.full_path,
                "query": self.query, "headers": {name.lower(): value for name, value in self.headers.items()},
                "status": reply.status, "location": reply.headers.get("Location"), "sent": self.sent,
                "proxy": self.proxied}
        with lock:
            log.append(line)
            counts["bytes"] += self.sent
            if options.log:
                with open(options.log, "a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")

    def send(self, reply):
        if reply.hush is not None:
            time.sleep(reply.hush / 1000)
            self.close_connection = True
            return
        self.send_response(reply.status)
        for i in range(reply.dribble):
            self.send_header("X-Line-%d" % i, "x" * 50)
            self.flush_headers()
            time.sleep(0.02)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if not reply.file:
            reply.count, reply.extra, reply.chunked = len(reply.text), b"", False
        elif reply.status == 206:
            self.send_header("Content-Range", "bytes %d-%d/%s" % (reply.first, reply.first + reply.count - 1,
                                                                reply.total))
        if reply.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif reply.status != 304:
            self.send_header("Content-Length", str(reply.count + len(reply.extra)))
        self.end_headers()
        if self.command != "HEAD" and reply.status != 304:
            self.send_body(reply)

    def send_body(self, reply):
        if not reply.file:
            self.put(reply.text, reply)
            return
        with open(reply.file, "rb") as file:
            if not options.tls and (reply.cut, reply.stall, reply.rate) == (None, None, None) and not reply.chunked:
                self.sent += self.connection.sendfile(file, reply.first + reply.skew, reply.count) if reply.count else 0
            else:
                self.send_pieces(file, reply)
        if reply.extra:
            self.put(reply.extra, reply)
        elif self.sent < reply.count:
            self.end(reply)
        if reply.chunked and not self.close_connection:
            self.wfile.write(b"0\r\n\r\n")

    def send_pieces(self, file, reply):
        file.seek(reply.first + reply.skew)
        left = reply.count
        block = min(BLOCK, max(1, reply.rate // 20)) if reply.rate else BLOCK
        while left:
            data = file.read(min(block, left))
            if not data:
                break
            left -= len(data)
            for limit in (reply.cut, reply.stall):
                if limit is not None:
                    data = data[:max(0, limit - self.sent)]
            self.put(data, reply)
            if reply.cut is not None and self.sent >= reply.cut:
                self.end(reply)
                return
            if reply.stall is not None and self.sent >= reply.stall:
                self.wait_for_end()
                return
            if reply.rate:
                time.sleep(len(data) / reply.rate)

    def put(self, data, reply):
        if data:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if reply.chunked else data)
            self.sent += len(data)

    def end(self, reply):
        """Ends the connection in the middle, with a reset or an orderly end."""
        self.close_connection = True
        if reply.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def wait_for_end(self):
        """Sends nothing more, until the other side closes."""
        self.close_connection = True
        self.connection.settimeout(options.lifetime)
        self.connection.recv(1)

    def do_CONNECT(self):
        """A tunnel; to loopback only."""
        host, _, port = self.path.rpartition(":")
        self.full_path, self.query, self.proxied, self.sent = self.path, "", True, 0
        reply = Reply(200 if host in ("127.0.0.1", "localhost") else 403)
        with lock:
            counts["requests"] += 1
        self.note(reply)
        self.send_response(reply.status)
        self.end_headers()
        self.close_connection = True
        if reply.status != 200:
            return
        with socket.create_connection(("127.0.0.1", int(port))) as there:
            sides = {self.connection: there, there: self.connection}
            while True:
                for side in select.select(list(sides), [], [])[0]:
                    data = side.recv(BLOCK)
                    if not data:
                        return
                    sides[side].sendall(data)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    parser.add_argument("--log")
    parser.add_argument("--page", type=int, default=2)
    parser.add_argument("--lifetime", type=float, default=600, help="seconds until it ends by itself")
    options = parser.parse_args()
    servers = [Server(("127.0.0.1", 0), Handler) for _ in range(2)]
    ports.extend(server.server_address[1] for server in servers)
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
        servers[0].socket = context.wrap_socket(servers[0].socket, server_side=True, do_handshake_on_connect=False)
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("%d\n%d" % tuple(ports), flush=True)
    time.sleep(options.lifetime)


if __name__ == "__main__":
    main()
