#!/usr/bin/python3
"""Receivers on loopback for tests of what is sent out: HTTP, HTTPS and mail servers.

Prints one line of JSON with its ports and files, then serves until its standard input ends, and
leaves nothing behind. What it received last is in `received`, written before it answers.
The interpreter is Debian's, for which python3-aiosmtpd is installed.
"""
import asyncio
import base64
import email
import email.policy
import hashlib
import hmac
import http.server
import json
import logging
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.parse

from aiosmtpd.smtp import SMTP, AuthResult

SECRET = b"top secret"
LOGIN, PASSWORD = b"eider", b"pass word"
OVER = threading.Event()


def certificate(folder, name, host):
    """A throw-away key and the certificate that it signs itself for `host`."""
    key, cert = folder / f"{name}.key", folder / f"{name}.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-keyout", key,
                    "-out", cert, "-subj", "/CN=test", "-addext", f"subjectAltName={host}"],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context, cert


class Record:
    """The last thing that was received, as a file that is always whole."""

    def __init__(self, folder):
        self.path = folder / "received.json"
        self.count = 0
        self.lock = threading.Lock()

    def put(self, **what):
        with self.lock:
            self.count += 1
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps({"count": self.count, **what}))
            new.rename(self.path)


class Handler(http.server.BaseHTTPRequestHandler):
    """What to answer stands in the path: /status/429?after=7, /hang, /drop, /huge, /say?TEXT."""
    record = None
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def signature_is_valid(self, body):
        signed = self.headers.get("X-Eider-Timestamp", "").encode() + b"." + body
        expected = "sha256=" + hmac.new(SECRET, signed, hashlib.sha256).hexdigest()
        return hmac.compare_digest(expected, self.headers.get("X-Eider-Signature", ""))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.record.put(method=self.command, path=self.path, headers=dict(self.headers.items()),
                        body=body.decode(errors="replace"), signed=self.signature_is_valid(body))
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.unquote(url.query)
        if url.path == "/hang":
            OVER.wait()
        elif url.path == "/drop":
            self.close_connection = True
        elif url.path.startswith("/status/"):
            self.answer(int(url.path.rpartition("/")[2]), b"as you wish\n", query)
        elif url.path == "/huge":
            self.answer(200, b"x" * (1 << 20))
        else:
            self.answer(200, query.encode() or b"fine")

    do_GET = do_POST

    def answer(self, status, body, query=""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if query.startswith("after="):
            self.send_header("Retry-After", query.removeprefix("after="))
        if query.startswith("to="):
            self.send_header("Location", query.removeprefix("to="))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass  # the other side has had enough


class WebServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that refuses our certificate is what the test wants


def start_web(record, context=None):
    handler = type("Bound", (Handler,), {"record": record})
    server = WebServer(("127.0.0.1", 0), handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


class Mailbox:
    """Takes mail; `gone@` is refused for ever, `later@` for now, a mail from `full@` at its end."""

    def __init__(self, record):
        self.record = record

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("gone@"):
            return "550 nobody of that name"
        if address.startswith("later@"):
            return "451 come back later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if envelope.mail_from.startswith("full@"):
            return "452 no space"
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.record.put(
            sender=envelope.mail_from, recipients=envelope.rcpt_tos,
            tls=session.ssl is not None, login=session.authenticated,
            headers={name: str(value) for name, value in mail.items()},
            defects=[str(defect) for defect in mail.defects],
            parts={part.get_content_type(): part.get_content() for part in mail.walk()
                   if not part.is_multipart()},
            raw=base64.b64encode(envelope.content).decode())
        return "250 taken"


def authenticate(server, session, envelope, mechanism, data):
    return AuthResult(success=(data.login, data.password) == (LOGIN, PASSWORD), handled=False)


async def start_mail(record, context, *, starttls=False, tls=False):
    def protocol():
        if starttls:
            return SMTP(Mailbox(record), hostname="localhost", tls_context=context,
                        require_starttls=True, authenticator=authenticate, auth_required=True)
        return SMTP(Mailbox(record), hostname="localhost")

    server = await asyncio.get_running_loop().create_server(
        protocol, "127.0.0.1", 0, ssl=context if tls else None)
    return server.sockets[0].getsockname()[1]


async def serve(folder):
    trusted, cert = certificate(folder, "trusted", "IP:127.0.0.1")
    stranger, foreign = certificate(folder, "stranger", "DNS:elsewhere.example")
    record = Record(folder)
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))  # taken, but nobody listens
    print(json.dumps({
        "received": str(record.path), "ca_file": str(cert), "foreign_ca": str(foreign),
        "http": start_web(record), "https": start_web(record, trusted),
        "stranger": start_web(record, stranger), "closed": closed.getsockname()[1],
        "smtp": await start_mail(record, trusted),
        "starttls": await start_mail(record, trusted, starttls=True),
        "smtps": await start_mail(record, trusted, tls=True),
    }), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    OVER.set()
    closed.close()


def main():
    logging.disable(logging.CRITICAL)  # a client that turns away is part of the tests
    with tempfile.TemporaryDirectory(prefix="eider-listener-") as name:
        asyncio.run(serve(pathlib.Path(name)))
        sys.stdout.flush()
    os._exit(0)  # threads may still hold connections


if __name__ == "__main__":
    main()
