"""A proxy before a server of objects, which does harm when it is told to."""

import contextlib
import http.client
import http.server
import random
import socket
import threading
import time

FAULTS = ["drop", "500", "503", "429", "half", "bytes", "lost", "forgotten", "error-in-200", "missing", "stale"]


class Proxy(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, server):
        super().__init__(("127.0.0.1", 0), Handler)
        self.behind = server
        self.creating = threading.Lock() if server.lets_two_in else contextlib.nullcontext()
        self.lock = threading.Lock()
        self.delay = 0.0
        self.calm()

    def endpoint(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def calm(self):
        self.harm(None, 0.0, 1)
        self.delay = 0.0

    def harm(self, fault, share, seed, skip=0):
        """From the request after `skip` on, this share of them meets the fault; "storm" is any."""
        with self.lock:
            self.fault, self.share, self.skip, self.seen, self.done = fault, share, skip, 0, 0
            self.dice = random.Random(seed)

    def choose(self):
        with self.lock:
            self.seen += 1
            if self.fault is None or self.seen <= self.skip or self.dice.random() >= self.share:
                return None
            self.done += 1
            return self.dice.choice(FAULTS) if self.fault == "storm" else self.fault


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, headers, body, cut=None):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        length = next((value for name, value in headers if name.lower() == "content-length"), None)
        self.send_header("Content-Length", length if self.command == "HEAD" and length else str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.close_connection = True

    def hang_up(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def forward(self, body):
        behind = self.server.behind
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        method, path, headers, body = behind.upstream(self.command, self.path, headers, body)
        connection = http.client.HTTPConnection(*behind.address, timeout=30)
        connection.request(method, path, body, headers)
        reply = connection.getresponse()
        return behind.downstream(reply.status, reply.getheaders(), reply.read())

    def refuse(self, fault, body):
        """Answers without asking the server; whether it did."""
        behind = self.server.behind
        if fault == "drop":
            self.hang_up()
        elif fault in ("500", "503", "429"):
            self.answer(int(fault), [], behind.error(int(fault)))
        elif fault == "forgotten" and behind.pretended(self.command, self.headers, body):
            self.answer(*behind.pretended(self.command, self.headers, body))
        elif fault == "missing" and self.command in ("GET", "HEAD"):
            self.answer(404, [], b"<Error><Code>NoSuchKey</Code></Error>")
        else:
            return False
        return True

    def relay(self):
        behind = self.server.behind
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.server.delay:
            time.sleep(self.server.delay)
        fault = self.server.choose()
        if self.refuse(fault, body):
            return
        with self.server.creating if self.command == "PUT" else contextlib.nullcontext():
            status, headers, reply = self.forward(body)
        if fault == "lost":
            # It happened, and nobody is told.
            self.hang_up()
            return
        failed = behind.failed_in_success(self.command, self.headers, body) if fault == "error-in-200" else None
        if failed:
            headers = [(name, value) for name, value in headers if name.lower() != "content-type"]
            kind = "application/xml" if failed.startswith(b"<") else "multipart/mixed; boundary=reply"
            self.answer(status, [*headers, ("Content-Type", kind)], failed)
            return
        if self.command == "GET" and status == 200 and reply:
            if fault == "half":
                self.answer(status, headers, reply, cut=len(reply) // 2)
                return
            if fault == "bytes":
                reply = bytes([reply[0] ^ 1]) + reply[1:]
            if fault == "stale":
                reply = b"what stood here before"
        self.answer(status, headers, reply)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = relay
