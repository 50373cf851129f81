"""The two kinds of store, as seen from outside: what is in them, and what was written to them."""
import contextlib
import pathlib
import re
import shutil
import sqlite3

import postgres


class Sqlite:
    """A store in a file."""

    name = "SQLite"

    def __init__(self, place):
        self.path = pathlib.Path(place) / "sqlite/eider.db"
        self.url = f"sqlite:{self.path}"

    def files(self):
        return [path for path in self.path.parent.glob("eider.db*") if path.suffix != ".lock"]

    def make_anew(self):
        shutil.rmtree(self.path.parent, ignore_errors=True)
        self.path.parent.mkdir(parents=True)

    def ask(self, sql):
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as session:
            return session.execute(sql).fetchall()

    def settle(self):
        """Nothing is left to be written from before: who closed it last saw to that."""

    def mark(self):
        """Another after every write that reached the file."""
        return [(path.name, path.stat().st_mtime_ns, path.stat().st_size)
                for path in sorted(self.files()) if path.suffix != ".db-shm"]

    def size(self):
        return sum(path.stat().st_size for path in self.files())

    def contents(self):
        """For each table something that is another when its rows are others."""
        tables = self.ask("SELECT name FROM sqlite_master WHERE type = 'table'"
                          " AND name NOT LIKE 'sqlite_%'")
        return {table: hash(tuple(self.ask(f"SELECT * FROM {table}"))) for table, in tables}

    def traffic(self, io):
        """Bytes written to the disk so far; `io` is what /proc tells of the daemon."""
        return int(re.search(r"^write_bytes: (\d+)", io, re.M).group(1))


class Postgres:
    """A store in the benchmark's own server."""

    name = "PostgreSQL"

    def __init__(self, server):
        self.server = server
        self.url = server.socket_url

    def make_anew(self):
        self.server.recreate()

    def ask(self, sql):
        with self.server.session() as session:
            return [[float(cell) if re.fullmatch(r"-?[\d.]+", cell) else cell for cell in row]
                    for row in session.ask(sql)]

    def settle(self):
        """Rows that are dead are gone, those of the catalog that ANALYZE leaves included."""
        for statement in ("VACUUM ANALYZE", "VACUUM", "CHECKPOINT"):
            self.ask(statement)

    def mark(self):
        return self.ask("SELECT pg_current_wal_insert_lsn(), tup_inserted, tup_updated, tup_deleted"
                        " FROM pg_stat_database WHERE datname = current_database()")

    def size(self):
        return self.ask("SELECT pg_database_size(current_database())")[0][0]

    def contents(self):
        return dict(self.ask("SELECT relname, n_tup_ins + n_tup_upd + n_tup_del"
                             " FROM pg_stat_user_tables"))

    def traffic(self, io):
        """What the server wrote to its log, and the daemon to files of its own."""
        own = int(re.search(r"^write_bytes: (\d+)", io, re.M).group(1))
        return own + self.ask("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")[0][0]


@contextlib.contextmanager
def both(place):
    """One of each kind, and the version of the server."""
    with postgres.Server(place) as server:
        yield [Sqlite(place), Postgres(server)], server.version()
