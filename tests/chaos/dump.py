"""Reads the product's tables into a history, from PostgreSQL or from an SQLite file."""
import pathlib
import re
import zlib
from collections.abc import Iterable
from typing import Any, Protocol

import history as h

LOG_KIND, FORM_PLAIN, FORM_DEFLATED = 0, 0, 1
PLACES = ("ready", "running", "timer", "gate", "pool_wait", "pool_slot")
MISSING_IN_EMBEDDED = {"xid": "NULL", "xmin": "NULL", "fate": "''"}


class Cursor(Protocol):
    """What psycopg2 and sqlite3 have in common."""

    def execute(self, sql: str) -> Any: ...
    def fetchall(self) -> list[tuple[Any, ...]]: ...


def column(name: str, is_postgres: bool) -> str:
    if name in ("xid", "xmin") and is_postgres:
        return f"{name}::text::bigint & 4294967295"
    return MISSING_IN_EMBEDDED.get(name, name) if not is_postgres else name


def plain(value: Any) -> Any:
    return bytes(value).hex() if isinstance(value, (bytes, memoryview)) else value


def rows(cursor: Cursor, kind: Any, is_postgres: bool) -> Iterable[Any]:
    names = [column(name, is_postgres) for name in kind._fields]
    cursor.execute(f"SELECT {', '.join(names)} FROM {h.table_of(kind)}")
    for row in cursor.fetchall():
        yield kind(*map(plain, row))


def tables_of(cursor: Cursor, is_postgres: bool) -> set[str]:
    cursor.execute("SELECT tablename FROM pg_tables" if is_postgres
                   else "SELECT name FROM sqlite_master")
    return {row[0] for row in cursor.fetchall()}


def inflate(data: bytes) -> bytes:
    """zlib, gzip or bare deflate, whichever it is."""
    for window in (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS):
        try:
            return zlib.decompress(data, window)
        except zlib.error:
            continue
    return b""


def logs_in_store(cursor: Cursor) -> Iterable[h.Log]:
    cursor.execute("SELECT k1, k2, k3, start_at, form, bytes FROM chunk"
                   f" WHERE kind = {LOG_KIND} AND form IN ({FORM_PLAIN}, {FORM_DEFLATED})"
                   " ORDER BY k1, k2, k3, start_at, form")
    pieces: dict[tuple[int, int, int], dict[int, bytes]] = {}
    for run, task, attempt, start, form, data in cursor.fetchall():
        piece = inflate(bytes(data)) if form == FORM_DEFLATED else bytes(data)
        pieces.setdefault((run, task, attempt), {})[start] = piece
    for (run, task, attempt), parts in pieces.items():
        text = b""
        for start, piece in sorted(parts.items()):
            # A hole shows as a break of the numbering; a part stored twice is taken once.
            text = text[:start] + piece if start <= len(text) else text + b"\n?hole\n" + piece
        yield h.summarize_log(run, task, attempt, text)


def logs_in_folder(blob: pathlib.Path) -> Iterable[h.Log]:
    for path in blob.glob("*/*/*.log"):
        key = re.fullmatch(r"(\d+)/(\d+)/(\d+)\.log", path.relative_to(blob).as_posix())
        if key:
            yield h.summarize_log(*map(int, key.groups()), path.read_bytes())


def read_store(cursor: Cursor, is_postgres: bool, blobs: Iterable[pathlib.Path] = ()) -> h.History:
    """All tables that the checker looks at."""
    history = h.History()
    there = tables_of(cursor, is_postgres)
    for name, kind in h.STORE_TYPES.items():
        if name in there:
            getattr(history, name).extend(rows(cursor, kind, is_postgres))
    for table in PLACES:
        host = "host" if table == "running" else "NULL"
        cursor.execute(f"SELECT task, {host} FROM {table}")
        history.place += [h.Place(table, *row) for row in cursor.fetchall()]
    if "chunk" in there:
        history.log += logs_in_store(cursor)
    for blob in blobs:
        history.log += logs_in_folder(blob)
    history.event.sort()
    return history
