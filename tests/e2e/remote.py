"""Servers for commands that talk to one: a daemon's, and one that behaves as it is told."""
import contextlib
import http.server
import json
import pathlib
import socket
import threading
import urllib.parse

from api import LISTEN


def place_of(home):
    """Where the daemon of a state folder is reached, and the key of its user."""
    return json.loads((pathlib.Path(home) / "api").read_text())


def way_to(home, **more):
    """The environment of a command that talks to that daemon."""
    place = place_of(home)
    return {"EIDER_SERVER": place["url"], "EIDER_TOKEN": place["key"], **more}


class Remote:
    """The program twice: on the store itself, and through the daemon that works on it."""

    def __init__(self, eider):
        self.eider = eider
        # A home of its own: what it finds, it found on the server.
        self.env = way_to(eider.home, EIDER_HOME=str(eider.folder / "elsewhere"))

    def here(self, *args, **options):
        return self.eider(*args, **options)

    def there(self, *args, env=None, **options):
        return self.eider(*args, env={**self.env, **(env or {})}, **options)


class Odd:
    """Answers by a list: a (status, body) each, None to hang up, or an event that an answer is
    never given before; then the last again."""

    def __init__(self, *answers, media="application/json"):
        odd = self
        self.answers = list(answers)
        self.seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                odd.seen.append((self.command, self.path, dict(self.headers.items()), body))
                answer = odd.answers.pop(0) if len(odd.answers) > 1 else odd.answers[0]
                if isinstance(answer, threading.Event):
                    answer.wait()
                    answer = None
                if answer is None:
                    self.close_connection = True
                    self.connection.close()
                    return
                status, text = answer
                self.send_response(status)
                self.send_header("Content-Type", media)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = answer

            def finish(self):
                with contextlib.suppress(OSError, ValueError):
                    super().finish()

        self.web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.web.handle_error = lambda *_: None
        self.thread = threading.Thread(target=self.web.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.web.server_address[1]}"

    def close(self):
        self.web.shutdown()
        self.web.server_close()
        self.thread.join()


class Slow:
    """Between a command and its server: what answers requests of a name waits until `go` is set."""

    def __init__(self, upstream, name):
        place = urllib.parse.urlsplit(upstream)
        self.upstream, self.name = (place.hostname, place.port), name.encode()
        self.go = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                near, far = self.listener.accept()[0], socket.create_connection(self.upstream)
                is_slow = threading.Event()
                for ends in ((near, far, is_slow, False), (far, near, is_slow, True)):
                    threading.Thread(target=self.pump, args=ends, daemon=True).start()

    def pump(self, source, target, is_slow, is_answer):
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                if not is_answer and self.name in piece:
                    is_slow.set()
                if is_answer and is_slow.is_set():
                    self.go.wait()
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)

    def close(self):
        self.go.set()
        self.listener.close()


__all__ = ["LISTEN", "Odd", "Remote", "Slow", "place_of", "way_to"]
