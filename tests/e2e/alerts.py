"""What tests of hooks and deadlines ask and do."""
import contextlib
import sqlite3

from harness import rows_of


def write_dag(eider, text, name="dag.yaml"):
    return eider.write(f"dags/{name}", text)


def notices(eider, *args):
    return rows_of(eider("notify", "list", "-o", "json", *args, code=0).json())


def misses(eider, *args):
    return rows_of(eider("sla", "list", "-o", "json", *args, code=0).json())


def change_store(eider, sql):
    """As if time had passed; the daemon finds it with its next look."""
    with contextlib.closing(sqlite3.connect(eider.home / "eider.db", timeout=30)) as db:
        db.execute(sql)
        db.commit()
