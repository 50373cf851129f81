"""Speaks HTTP with a daemon, as plainly as can be."""
import contextlib
import copy
import http.client
import json
import re
import socket
import ssl
import urllib.parse

from harness import wait_for

LISTEN = {"EIDER_LISTEN": "127.0.0.1:0"}
URL = re.compile(r"^  api     (https?)://([0-9.]+):([0-9]+)$", re.MULTILINE)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.bytes = response.read()

    @property
    def text(self):
        return self.bytes.decode()

    @property
    def json(self):
        return json.loads(self.bytes)

    def __repr__(self):
        return f"{self.status} {self.text[:2000]}"


class Api:
    """Where a daemon listens; `token` goes with every request."""

    def __init__(self, daemon, token=None):
        # Said after that it is up, in a line of its own.
        found = wait_for(lambda: URL.findall(daemon.text()), "the daemon to say where it listens")
        self.scheme, self.host, port = found[-1]
        self.port = int(port)
        self.token = token

    def with_token(self, token):
        """The same server for somebody else."""
        other = copy.copy(self)
        other.token = token
        return other

    def headers(self):
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def connect(self):
        if self.scheme == "https":
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            return http.client.HTTPSConnection(self.host, self.port, timeout=60, context=context)
        return http.client.HTTPConnection(self.host, self.port, timeout=60)

    def __call__(self, method, path, body=None, headers=None, query=None, code=None):
        """One request. `body` is sent as JSON unless it is bytes; with code=, else it fails."""
        headers = dict(headers or {})
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        if query:
            path += "?" + urllib.parse.urlencode(query, doseq=True)
        connection = self.connect()
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = Answer(connection.getresponse())
        finally:
            connection.close()
        if code is not None:
            assert answer.status == code, f"{method} {path}: {answer}"
        return answer

    def get(self, path, code=200, **options):
        return self("GET", path, code=code, **options).json

    def post(self, path, body=None, code=200, **options):
        return self("POST", path, body if body is not None else {}, code=code, **options).json

    def raw(self, text):
        """Bytes as they are, and all that comes back until the other side closes."""
        parts = []
        with socket.create_connection((self.host, self.port), timeout=60) as plain:
            with contextlib.suppress(OSError):
                plain.sendall(text)
                plain.shutdown(socket.SHUT_WR)
                while part := plain.recv(65536):
                    parts.append(part)
        return b"".join(parts)
