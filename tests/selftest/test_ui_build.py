"""How the web UI gets into the program, or does not, with a UI of a few lines."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPIED = ["tools/build-ui", "tools/write-ui-files.mjs", "cmake/ui.cmake", "cmake/ui_missing.c.in"]
PACKAGE = {"name": "small", "private": True, "type": "module"}
LOCK = {"name": "small", "lockfileVersion": 3, "requires": True,
        "packages": {"": {"name": "small"}}}
# A package of a registry that is not there, on a port that nobody listens to.
FAR = {"version": "1.0.0", "resolved": "http://127.0.0.1:9/far.tgz", "integrity": "sha512-AAAA"}
BUILD = """\
import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
const out = process.argv[2];
mkdirSync(`${out}/static`, { recursive: true });
copyFileSync("ui/src/app.js", `${out}/static/app-0a1b2c3d.js`);
writeFileSync(`${out}/index.html`, "<!doctype html>" + "<p>the page".repeat(40));
appendFileSync("builds", "x");
"""
PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
include(cmake/ui.cmake)
add_custom_target(small ALL DEPENDS ${EMBEDDED_IN_serve})
"""

pytestmark = pytest.mark.skipif(not shutil.which("npm"), reason="there is no npm")


class Site:
    """A tree with the parts that build a UI."""

    def __init__(self, root):
        self.root = root
        for name in COPIED:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)
        self.write("CMakeLists.txt", PROJECT)
        self.write("ui/package.json", json.dumps(PACKAGE))
        self.write("ui/package-lock.json", json.dumps(LOCK))
        self.write("ui/build.mjs", BUILD)
        self.write("ui/src/app.js", "console.log(1);\n" * 50)
        self.output = root / "table.c"

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def start(self, output=None, **env):
        return subprocess.Popen([self.root / "tools/build-ui", output or self.output], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                env={**os.environ, **env})

    def build(self, output=None, **env):
        child = self.start(output, **env)
        told = child.communicate(timeout=120)[0]
        return child.returncode, told

    def builds(self):
        path = self.root / "builds"
        return len(path.read_text()) if path.exists() else 0

    def cmake(self, *options):
        """Configures and builds; what was said, and the table."""
        told = ""
        for command in (["cmake", "-G", "Ninja", "-S", ".", "-B", "made", *options],
                        ["cmake", "--build", "made"]):
            done = subprocess.run(command, cwd=self.root, stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.STDOUT, timeout=120, check=False)
            told += done.stdout
            assert done.returncode == 0, told
        return told, (self.root / "made/generated/ui_files.c").read_text()


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def compile_table(path):
    return subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I",
                           ROOT / "src", path], capture_output=True, text=True, check=False).stderr


def test_files_become_a_table_once(site):
    code, told = site.build()
    assert (code, told) == (0, "ui: 2 files, 1 KB gzipped\n")
    text = site.output.read_text()
    assert re.findall(r'\.path = "([^"]+)"', text) == ["/index.html", "/static/app-0a1b2c3d.js"]
    assert text.count(".gzip = ") == 2 and text.count(".plain = ") == 1
    assert compile_table(site.output) == ""

    assert site.build(site.root / "other.c") == (0, "")
    assert (site.root / "other.c").read_text() == text
    assert site.builds() == 1


def test_two_build_folders_at_once_build_it_once(site):
    children = [site.start(site.root / f"{i}.c") for i in range(3)]
    told = [child.communicate(timeout=120)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0, 0], told
    assert site.builds() == 1
    assert len({(site.root / f"{i}.c").read_text() for i in range(3)}) == 1


def test_an_edit_is_built_and_packages_are_not_fetched_again(site):
    site.build()
    first = site.output.read_text()
    site.write("ui/src/app.js", "console.log(2);\n" * 50)
    code, told = site.build(NPM=str(site.root / "none"))
    assert code != 0, "types are checked by npm"
    site.write("npm", '#!/bin/sh\n[ "$1" != ci ]\n')
    (site.root / "npm").chmod(0o755)
    code, told = site.build(NPM=str(site.root / "npm"))
    assert code == 0, told
    assert site.output.read_text() != first


def test_mistakes_of_ours_fail_the_build(site):
    site.write("ui/build.mjs", "throw new Error('planted');\n")
    code, told = site.build()
    assert code == 1 and "planted" in told and "ui/build.mjs failed" in told
    site.write("ui/build.mjs", BUILD)
    site.write("ui/package.json", json.dumps({**PACKAGE, "scripts": {"check": "echo odd; false"}}))
    code, told = site.build()
    assert code == 1 and "odd" in told and "have mistakes" in told
    site.write("ui/package.json", json.dumps({**PACKAGE, "dependencies": {"far": "1.0.0"}}))
    code, told = site.build()
    assert code == 1 and "npm cannot install" in told, "the lock file does not have it"
    assert not site.output.exists()


def test_files_that_the_server_would_not_know_fail_the_build(site):
    for name in ("robots.txt", "static/app.js", "static/app-0a1b2c3d.exe"):
        site.write("ui/build.mjs", BUILD + f'writeFileSync(`${{out}}/{name}`, "x");\n')
        code, told = site.build()
        assert code == 1 and pathlib.Path(name).name in told, told


def test_without_a_registry_the_program_says_so_and_the_next_build_tries_again(site):
    dependencies = {"dependencies": {"far": "1.0.0"}}
    site.write("ui/package.json", json.dumps({**PACKAGE, **dependencies}))
    packages = {"": {"name": "small", **dependencies}, "node_modules/far": FAR}
    site.write("ui/package-lock.json", json.dumps({**LOCK, "packages": packages}))
    told, table = site.cmake()
    assert "WARNING" in told and "ECONNREFUSED" in told
    assert '.missing = "its packages could not be fetched' in table
    assert compile_table(site.root / "made/generated/ui_files.c") == ""

    told, table = site.cmake()
    assert "WARNING" in told, "it is tried again though nothing changed"
    site.write("ui/package.json", json.dumps(PACKAGE))
    site.write("ui/package-lock.json", json.dumps(LOCK))
    told, table = site.cmake()
    assert "ui: 2 files" in told and ".missing" not in table


def test_cmake_notices_files_that_change_come_and_go(site):
    assert "ui: 2 files" in site.cmake()[0]
    assert "ui: 2 files" not in site.cmake()[0]
    site.write("ui/src/parts/more.js", "x")
    assert "ui: 2 files" in site.cmake()[0]
    (site.root / "ui/src/parts/more.js").unlink()
    assert "ui: 2 files" in site.cmake()[0]
    site.write("ui/tests/some.js", "x")
    assert "ui: 2 files" not in site.cmake()[0]


@pytest.mark.parametrize("how, why", [
    ("off", "it was built with -DEIDER_UI=OFF"),
    ("old", "it needs Node 18 or newer, and found Node 16.20.2 when it was built"),
    ("bare", "its source tree has no folder ui"),
])
def test_without_node_the_program_is_built_and_says_why(site, how, why):
    options = []
    if how == "off":
        options = ["-DEIDER_UI=OFF"]
    elif how == "old":
        site.write("node", "#!/bin/sh\necho v16.20.2\n")
        (site.root / "node").chmod(0o755)
        options = [f"-DNODE={site.root}/node"]
    else:
        shutil.rmtree(site.root / "ui")
    told, table = site.cmake(*options)
    assert f'.missing = "{why}"' in table
    assert (f"ui: the program has no web UI: {why}" in told) == (how != "off"), told
    assert compile_table(site.root / "made/generated/ui_files.c") == ""
