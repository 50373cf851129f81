"""Listens to a stream of events as a browser does, in a thread of its own."""
import contextlib
import http.client
import json
import socket
import threading
import urllib.parse

from harness import wait_for

EVENTS = "/api/v1/x/events"


class Frame:
    """One event; `event` is None for ordinary ones, `at` is when it was here."""

    def __init__(self, fields, at):
        self.id = fields.get("id")
        self.event = fields.get("event")
        self.data = json.loads(fields["data"])
        self.at = at

    def __repr__(self):
        return f"<{self.event or 'event'} {self.id} {self.data}>"


class Listener:
    """Frames as they come. With `paused`, nothing is read until `go`."""

    def __init__(self, api, path=EVENTS, last=None, paused=False, clock=None, **query):
        self.frames = []
        self.last = last
        self.comments = 0
        self.lines = []
        self.is_over = False
        self.clock = clock or (lambda: None)
        self.reading = threading.Event()
        if not paused:
            self.reading.set()
        headers = {"Accept": "text/event-stream", **api.headers()}
        if last:
            headers["Last-Event-ID"] = last
        if query:
            path += "?" + urllib.parse.urlencode(query)
        self.connection = api.connect()
        self.connection.request("GET", path, headers=headers)
        self.response = self.connection.getresponse()
        assert self.response.status == 200, self.response.read()
        assert self.response.headers["Content-Type"].startswith("text/event-stream")
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def listen(self):
        fields = {}
        self.reading.wait()
        try:
            while line := self.response.readline():
                text = line.decode().rstrip("\n")
                self.lines.append(text)
                if text:
                    name, _, value = text.partition(":")
                    self.comments += name == ""
                    fields[name] = value.removeprefix(" ")
                    continue
                self.last = fields.get("id", self.last)
                if "data" in fields:
                    self.frames.append(Frame(fields, self.clock()))
                fields = {}
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass
        self.is_over = True

    def go(self):
        self.reading.set()

    def events(self):
        return [frame for frame in list(self.frames) if frame.event is None]

    def ids(self):
        return [frame.data["id"] for frame in self.events()]

    def told(self, event):
        return [frame for frame in list(self.frames) if frame.event == event]

    def wait_until_ready(self):
        wait_for(lambda: self.told("ready") or self.told("reset"), "the stream is ready")
        return self

    def wait(self, count):
        wait_for(lambda: len(self.events()) >= count or self.is_over,
                 f"{count} events, not {len(self.events())}")
        return self.events()

    def close(self):
        """As when the line is cut: nothing is said."""
        self.reading.set()
        with contextlib.suppress(OSError, AttributeError):
            (self.connection.sock or self.response.fp.raw._sock).shutdown(socket.SHUT_RDWR)
        self.thread.join(timeout=60)
        self.connection.close()
        return self.last
