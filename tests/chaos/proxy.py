#!/usr/bin/python3
"""TCP proxies between hosts and PostgreSQL, one for each host, in a process of their own.

What a fault does to a host's link:

    cut             nothing passes either way; ends keep their connections and hear nothing
    one_way         questions pass, answers do not
    other_way       answers pass, questions do not
    delay           every piece waits for so long
    reset           all connections are reset, now
    hold_commit     answers to COMMITs wait, all else passes
    swallow_commit  the next answer to a COMMIT is swallowed and its connection reset
    lose_commit     the next COMMIT itself is lost and its connection reset

A cut holds what was sent, as TCP would, and delivers it when the link heals. The process is told
what to do by JSON lines on its standard input and answers each with one line.
"""
import asyncio
import contextlib
import dataclasses
import json
import pathlib
import socket
import struct
import subprocess
import sys
from typing import Any

PIECE = 65536
ENCRYPTION_ASKED = (80877103, 80877104)  # SSLRequest, GSSENCRequest
COMMITTED = b"COMMIT\0"


@dataclasses.dataclass
class Counts:
    """What the faults of a link visibly did."""

    connections: int = 0
    disconnected: int = 0  # by the server
    dropped: int = 0  # pieces that were held or lost
    delayed: int = 0
    reset: int = 0
    swallowed: int = 0
    lost: int = 0  # questions to commit


class Direction:
    """A gate that can be closed: pieces wait in front of it."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()


class Link:
    """The listener of one host and its connections."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.up, self.down, self.commits = Direction(), Direction(), Direction()
        self.delay = 0.0
        self.is_armed = False  # swallows the next answer to a COMMIT
        self.loses_commit = False
        self.counts = Counts()
        self.writers: set[asyncio.StreamWriter] = set()
        self.server: asyncio.Server | None = None

    async def listen(self) -> int:
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        return int(self.server.sockets[0].getsockname()[1])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.counts.connections += 1
        self.writers.add(writer)
        up_writer = None
        try:
            startup = await self.read_startup(reader, writer)
            up_reader, up_writer = await asyncio.open_unix_connection(self.upstream)
            self.writers.add(up_writer)
            up_writer.write(startup)
            pumps = [asyncio.create_task(self.pump_up(reader, up_writer, writer)),
                     asyncio.create_task(self.pump_down(up_reader, writer))]
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            for one in (writer, up_writer):
                if one is not None:
                    self.writers.discard(one)
                    one.close()

    async def read_startup(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
                           ) -> bytes:
        """The first message; encryption is declined, so that all that follows can be read."""
        while True:
            head = await reader.readexactly(8)
            length, code = struct.unpack("!II", head)
            if code not in ENCRYPTION_ASKED:
                rest = await reader.readexactly(length - 8)
                await self.pass_gate(self.up)
                return head + rest
            await self.pass_gate(self.down)
            writer.write(b"N")

    async def pass_gate(self, direction: Direction) -> None:
        if self.delay:
            self.counts.delayed += 1
            await asyncio.sleep(self.delay)
        if not direction.open.is_set():
            self.counts.dropped += 1
            await direction.open.wait()

    async def pump_up(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
                      client: asyncio.StreamWriter) -> None:
        """Message by message, so that a COMMIT is recognised, prepared under a name or not."""
        named: set[bytes] = set()
        with contextlib.suppress(OSError):
            try:
                while True:
                    head = await reader.readexactly(5)
                    body = await reader.readexactly(struct.unpack("!I", head[1:])[0] - 4)
                    await self.pass_gate(self.up)
                    if is_commit(head[:1], body, named) and self.loses_commit:
                        self.loses_commit = False
                        self.counts.lost += 1
                        reset(client)
                        return
                    writer.write(head + body)
                    await writer.drain()
            except asyncio.IncompleteReadError:
                await self.pass_gate(self.up)

    async def pump_down(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Message by message, so that the answer to a COMMIT is recognised."""
        with contextlib.suppress(OSError):
            try:
                while True:
                    head = await reader.readexactly(5)
                    body = await reader.readexactly(struct.unpack("!I", head[1:])[0] - 4)
                    is_answer = head[:1] == b"C" and body == COMMITTED
                    if self.is_armed and is_answer:
                        self.is_armed = False
                        self.counts.swallowed += 1
                        reset(writer)
                        return
                    await self.pass_gate(self.commits if is_answer else self.down)
                    writer.write(head + body)
                    await writer.drain()
            except asyncio.IncompleteReadError:
                self.counts.disconnected += 1
                await self.pass_gate(self.down)

    def reset_all(self) -> None:
        for writer in list(self.writers):
            self.counts.reset += 1
            reset(writer)

    def apply(self, do: str, seconds: float) -> None:
        """Changes the link; `pass` heals it."""
        self.delay = seconds if do == "delay" else 0.0
        for direction, is_open in ((self.up, do not in ("cut", "other_way")),
                                   (self.down, do not in ("cut", "one_way")),
                                   (self.commits, do not in ("cut", "one_way", "hold_commit"))):
            if is_open:
                direction.open.set()
            else:
                direction.open.clear()
        if do == "reset":
            self.reset_all()
        self.is_armed = do == "swallow_commit"
        self.loses_commit = do == "lose_commit"


def is_commit(kind: bytes, body: bytes, named: set[bytes]) -> bool:
    """Whether a message of a client commits; `named` are its statements that do."""
    if kind == b"P":
        name, query = body.split(b"\0", 2)[:2]
        if query + b"\0" == COMMITTED:
            named.add(name)
        else:
            named.discard(name)
    if kind == b"B":
        return body.split(b"\0", 2)[1] in named
    return kind == b"Q" and body == COMMITTED


def reset(writer: asyncio.StreamWriter) -> None:
    """Ends a connection with RST instead of FIN."""
    raw = writer.get_extra_info("socket")
    if raw is not None and raw.family == socket.AF_INET:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def run(upstream: str) -> None:
    links: dict[str, Link] = {}
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        order = json.loads(line)
        answer: dict[str, Any] = {}
        if order["do"] == "add":
            links[order["host"]] = Link(upstream)
            answer["port"] = await links[order["host"]].listen()
        elif order["do"] != "count":
            links[order["host"]].apply(order["do"], order.get("seconds", 0.0))
        answer["counts"] = dataclasses.asdict(links[order["host"]].counts)
        print(json.dumps(answer), flush=True)


class Proxies:
    """The other end of the pipe."""

    def __init__(self, upstream: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(pathlib.Path(__file__)), upstream], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)

    def tell(self, host: str, do: str, **more: float) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps({"host": host, "do": do, **more}) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def add(self, host: str) -> int:
        """A link for a host; its port."""
        return int(self.tell(host, "add")["port"])

    def counts(self, host: str) -> dict[str, int]:
        counts: dict[str, int] = self.tell(host, "count")["counts"]
        return counts

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(timeout=10)


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1]))
