"""Receivers of messages on loopback: a web server that keeps what it gets, and the mail servers of
tests/testing/listener.py."""
import http.server
import json
import pathlib
import subprocess
import threading

LISTENER = pathlib.Path(__file__).resolve().parents[1] / "testing/listener.py"


class Receiver:
    """Keeps every request. What it answers is `status`; while it is `held`, nothing at all."""

    def __init__(self, port=0):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                receiver.keep(self.path, dict(self.headers.items()), body)
                receiver.may_answer.wait()
                try:
                    self.send_response(receiver.status)
                    self.send_header("Content-Length", "5")
                    self.end_headers()
                    self.wfile.write(b"taken")
                except OSError:
                    pass  # who asked is gone

        class Web(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass

        self.status = 200
        self.requests = []
        self.lock = threading.Lock()
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.server = Web(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.port}{path}"

    def keep(self, path, headers, body):
        with self.lock:
            self.requests.append({"path": path, "headers": headers, "text": body.decode()})

    def hold(self):
        self.may_answer.clear()

    def let_go(self):
        self.may_answer.set()

    def got(self, path=None):
        """What came so far, oldest first, with the body as JSON."""
        with self.lock:
            found = [one for one in self.requests if path in (None, one["path"])]
        return [{**one, "body": json.loads(one["text"])} for one in found]

    def deliveries(self, path=None):
        return [one["headers"]["X-Eider-Delivery"] for one in self.got(path)]

    def close(self):
        self.let_go()
        self.server.shutdown()
        self.server.server_close()


class MailServers:
    """tests/testing/listener.py as a process; `about` has its ports and files."""

    def __init__(self):
        self.process = subprocess.Popen(["/usr/bin/python3", str(LISTENER)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.about = json.loads(self.process.stdout.readline())

    def last(self):
        path = pathlib.Path(self.about["received"])
        return json.loads(path.read_text()) if path.exists() else None

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()
