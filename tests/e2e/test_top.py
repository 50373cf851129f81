"""The monitor on a real terminal (tmux), over a real daemon."""
import re
import shlex
import shutil
import subprocess
import threading

import pytest
from api import LISTEN
from fleet import Daemon, finish_all
from harness import BINARY, PATIENCE, wait_for
from remote import Odd

BUSY = {"EIDER_CPU_MOST": "1000000"}

ORDERS = """
    tasks:
      extract:
        run: echo one; echo two; while [ ! -e @evidence ]; do sleep 0.05; done; echo three
      each: {run: "echo item {{ item }}", foreach: [7, 8, 9], needs: [extract]}
      load: {run: "echo loading", needs: [each]}
"""
BROKEN = "{tasks: {a: {run: 'true'}, b: {run: 'exit 3', needs: [a]}}}"


class Pane:
    """A program in a terminal of a given size, which is looked at as a person would."""

    def __init__(self, eider, *args, size=(80, 24), env=None, name="tmux"):
        assert shutil.which("tmux"), "tmux is not installed; run tools/setup test"
        self.folder = eider.folder
        self.socket = eider.folder / name
        config = eider.folder / "tmux.conf"
        config.write_text("set -g status off\nset -sg escape-time 0\n")
        words = " ".join(shlex.quote(str(word)) for word in (BINARY, "top", *args))
        extra = " ".join(f"{name}={shlex.quote(value)}" for name, value in (env or {}).items())
        line = f"env {extra} {words}; echo ended with $?; read -r line"
        self.tmux("-f", config, "new-session", "-d", "-x", size[0], "-y", size[1], line,
                  env={**eider.environment(), "TERM": "xterm-256color"})

    def tmux(self, *args, env=None):
        done = subprocess.run(["tmux", "-S", str(self.socket), *map(str, args)], check=False,
                              env=env, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def text(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def wait(self, pattern):
        """Until it shows this; gives the match."""
        shown = ""

        def look():
            nonlocal shown
            shown = self.text()
            return re.search(pattern, shown, re.MULTILINE)

        try:
            return wait_for(look, pattern)
        except BaseException:
            print(f"the terminal shows:\n{shown}")
            raise

    def wait_without(self, pattern):
        wait_for(lambda: not re.search(pattern, self.text(), re.MULTILINE), f"no {pattern}")

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", columns, "-y", rows)

    def close(self):
        subprocess.run(["tmux", "-S", str(self.socket), "kill-server"], check=False,
                       capture_output=True)


@pytest.fixture
def top(eider):
    panes = []

    def start(*args, **options):
        panes.append(Pane(eider, *args, **{"name": f"tmux{len(panes)}", **options}))
        return panes[-1]

    yield start
    for pane in panes:
        pane.close()


@pytest.fixture
def up(eider):
    daemons = []

    def start(*args, env=None, **options):
        daemon = Daemon(eider, *args, env={**BUSY, **(env or {})}, **options)
        daemons.append(daemon)
        return daemon.wait_until_up()

    yield start
    finish_all(daemons)


def trigger(eider, dag):
    return eider("dags", "trigger", dag, "-o", "name", code=0).out.strip()


def watch_a_run(eider, up, top, way=None):
    eider.write("dags/orders.yaml", ORDERS)
    up(env=LISTEN)
    number = trigger(eider, "orders")
    pane = top("--every", "1", env=way and way(eider.home))
    pane.wait(r"^ Runs   1 running  0 queued")
    pane.wait(r"^ Tasks  1 running .* Hosts 1 active  1/\d+ slots")
    pane.wait(rf"^> +{number} running +orders +0/3")

    pane.press("Enter")
    pane.wait(rf"^ eider top  run {number} orders")
    pane.wait(r"^> extract +running")
    pane.wait(r"^    each +none")
    pane.wait(r"^      load +none")
    pane.press("Enter")
    pane.wait(rf"run {number} orders: log of extract \(follows\)")
    pane.wait(r"^one\ntwo$")
    eider.evidence.path.write_text("")
    pane.wait(r"^two\nthree$")

    pane.press("Escape")
    pane.wait(r"^    each \+ +success +3/3")
    pane.press("Down", "Enter")
    pane.wait(r"^      each\[0\] +success")
    pane.press("Down", "Down", "Enter")
    pane.wait(r"^item 8$")
    pane.press("Escape", "Escape")
    pane.wait(rf"^> +{number} success +orders +5/5")
    pane.wait(r"^ Done .*[▁▂▃▄▅▆▇█].* \d+\.\d/s now")
    pane.press("7")
    pane.wait(rf"^> .* run_ended +{number} orders +success")
    pane.press("q")
    pane.wait(r"^ended with 0$")
    assert "Runs" not in pane.text(), "the screen is as it was before"


def test_a_run_is_followed_from_the_numbers_to_the_log(eider, up, top):
    watch_a_run(eider, up, top)


def test_the_same_on_postgresql(server, eider, up, top):
    watch_a_run(eider, up, top)


def test_the_same_through_a_server(eider, up, top):
    remote = pytest.importorskip("remote")
    watch_a_run(eider, up, top, lambda home: remote.way_to(home, EIDER_HOME=str(eider.work)))


def test_a_server_that_is_gone_is_told_and_what_was_there_stays(eider, up, top):
    remote = pytest.importorskip("remote")
    eider.write("dags/broken.yaml", BROKEN)
    daemon = up(env=LISTEN)
    number = trigger(eider, "broken")
    way = remote.way_to(eider.home, EIDER_HOME=str(eider.work))
    pane = top("--every", "1", env=way)
    pane.wait(rf"^> +{number} failed +broken")
    daemon.kill()
    pane.wait(r"^ eider top  no answer: ")
    pane.wait(rf"^> +{number} failed +broken")
    pane.press("q")
    pane.wait(r"^ended with 0$")
    gone = top(env=way, name="gone")
    gone.wait(r"^ended with 8$")
    assert "eider: " in gone.text()


def test_what_people_change_is_changed_and_audited(eider, up, top):
    eider.write("dags/orders.yaml", ORDERS)
    eider.write("dags/broken.yaml", BROKEN)
    up()
    broken = trigger(eider, "broken")
    wait_for(lambda: eider.run_state("broken") == "failed", "it failed")
    number = trigger(eider, "orders")
    pane = top(size=(120, 40))
    pane.wait(rf"^> +{number} running +orders .* manual__")
    pane.wait("1 run failed in an hour")

    pane.press("x")
    pane.wait(rf"^ stop run {number} \(orders\)\? y does it")
    pane.press("n")
    pane.wait("nothing was changed")
    pane.press("x", "y")
    pane.wait("because: _")
    pane.type("wrong day, été")
    pane.wait("because: wrong day, été_")
    pane.press("Enter")
    pane.wait(rf"^>? +{number} cancelled +orders")
    audit = eider("audit", "list", "-o", "json", code=0).json()["entries"]
    assert any(row["action"] == "run_cancel_asked" and row["reason"] == "wrong day, été"
               for row in audit), audit

    pane.press("/")
    pane.type("BROK")
    pane.press("Enter")
    pane.wait(rf"^> +{broken} failed +broken")
    pane.press("r", "y")
    pane.wait(rf"done: retry run {broken}")
    wait_for(lambda: eider.tasks(broken)["b"]["try_number"] == 2 and
             eider.run_state("broken") == "failed", "it ran again")
    pane.press("Escape", "3")
    pane.wait(r"^> broken +active +failed")
    pane.press("p")
    pane.wait(r"^> broken +paused")
    pane.press("u")
    pane.wait(r"^> broken +active")
    pane.press("4")
    pane.wait(r"^> default +READY")
    pane.press("p")
    pane.wait(r"^> default +PAUSED")
    pane.press("u")
    pane.wait(r"^> default +READY")


def test_it_fits_every_screen_and_follows_its_size(eider, up, top):
    eider.write("dags/broken.yaml", BROKEN)
    up()
    number = trigger(eider, "broken")
    pane = top()
    pane.wait(rf"^> +{number} failed +broken +2/2 +1 .* manual$")
    pane.resize(120, 40)
    pane.wait(rf"^> +{number} failed +broken .* manual +manual__")
    pane.resize(44, 12)
    pane.wait(rf"^> +{number} failed +broken +2/2$")
    assert "Runs   " not in pane.text()
    pane.resize(12, 4)
    pane.wait("^a larger s")
    pane.resize(80, 24)
    pane.wait(rf"^> +{number} failed +broken +2/2 +1 .* manual$")
    pane.press("?")
    pane.wait("stop a run, a task or a job, with a reason")
    pane.press("q")
    pane.wait("^ Runs   ")
    pane.press("e")
    pane.wait(rf"run {number}: why")
    pane.wait("exit code 3|exited with 3|exit 3|code 3")


@pytest.mark.parametrize("kind", ["linux", "xterm", "screen", "vt100"])
def test_kinds_of_terminals(eider, top, kind):
    eider.run(BROKEN, name="broken.yaml", code=1)
    pane = top(env={"TERM": kind})
    pane.wait(r"^> +1 failed +broken +2/2")
    pane.press("Enter")
    pane.wait(r"^> a +success")
    pane.press("Down")
    pane.wait(r"^>   b +failed .* exit 3")
    pane.press("Left")
    pane.wait(r"^> +1 failed +broken +2/2")
    if kind == "linux":
        assert pane.text().isascii()


def test_colours_are_left_out_where_nobody_wants_them(eider, top):
    eider.run(BROKEN, name="broken.yaml", code=1)
    colour = re.compile(r"\x1b\[[0-9;]*3[1-6]m")
    pane = top(env={"TERM": "xterm-256color"})
    pane.wait(r"^> +1 failed")
    wait_for(lambda: colour.search(pane.text("-e")), "colours")
    pane.close()
    pane = top(env={"TERM": "xterm-256color", "NO_COLOR": "1"})
    pane.wait(r"^> +1 failed")
    assert not colour.search(pane.text("-e")), pane.text("-e")


def test_without_a_terminal_it_says_what_to_do_instead(eider):
    result = eider("top", code=2)
    assert "top draws on a terminal, and there is none" in result.err
    assert result.out == ""
    for kind in ("dumb", "no-such-terminal"):
        # The terminal's library loses what it had allocated for a kind that it does not know.
        terminal = eider.terminal("top", env={"TERM": kind, "ASAN_OPTIONS": "detect_leaks=0"})
        assert terminal.wait() == 2
        assert f"a terminal of kind '{kind}' cannot show it" in terminal.seen
    terminal = eider.terminal("top", "--every", "0")
    assert terminal.wait() == 2


def test_only_what_changes_is_sent(eider):
    for _ in range(3):
        eider.run(BROKEN, name="broken.yaml", code=1)
    terminal = eider.terminal("top", "--every", "60")
    terminal.read_until("q quit")
    for key in "jjkk" * 3:
        before = len(terminal.seen)
        terminal.type(key)
        terminal.wait_until(lambda: len(terminal.seen) > before, "something was drawn")
    whole = terminal.seen.index("q quit")
    moved = len(terminal.seen) - whole
    assert moved < 12 * 400, f"{moved} characters for 12 moves of the cursor"
    terminal.type("q")
    assert terminal.wait() == 0


def test_keys_are_heard_while_an_answer_is_on_its_way(top):
    end = threading.Event()
    server = Odd((200, '{"dag_runs": [{"number": "7", "dag_id": "orders", "state": "running"}]}'),
                 end)
    try:
        pane = top(env={"EIDER_SERVER": server.url})
        pane.wait(r"^> +7 running +orders")
        pane.press("4")
        wait_for(lambda: len(server.seen) > 1, "a question that nobody answers")
        pane.wait(r"^ +QUEUE +STATE")
        pane.press("?")
        pane.wait(r"^  Home End, g G")
        pane.wait(r"^  Ctrl-L +draw everything anew")
        pane.press("q", "q")
        pane.wait(r"^ended with 0$")
    finally:
        end.set()
        server.close()


def test_a_host_that_dies_is_seen_and_so_is_the_next(eider, up, top):
    eider.write("dags/orders.yaml", ORDERS)
    daemon = up()
    pane = top("--every", "1")
    pane.wait("Hosts 1 active")
    daemon.kill()
    pane.wait("1 host is gone")
    trigger(eider, "orders")
    pane.wait("work waits and no host is there")
    up(name="second")
    pane.wait("Hosts 1 active")
    eider.evidence.path.write_text("")
    pane.wait(r"^> +\d+ success +orders")
    pane.wait_without("host is gone|no host is there")
