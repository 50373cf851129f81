"""A copy of the tree in which a test may plant a mistake, to see that it is caught."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPIED = [".clang-tidy", "CMakeLists.txt", "CMakePresets.json", "cmake", "src", "sql", "tools",
          "bench", "tests/CMakeLists.txt", "tests/testing", "tests/fuzz", "tests/oracle"]
CORNER = ["src/LAYERS", "src/base", "tools"]


class Tree:
    def __init__(self, root):
        self.root = root
        self.planted = []

    def plant(self, relative, text):
        path = self.root / relative
        assert not path.exists(), f"{relative} exists; plant elsewhere"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.planted.append(path)

    def weed(self):
        for path in self.planted:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
        self.planted.clear()

    def run(self, *command):
        """The exit code and everything printed."""
        result = subprocess.run(command, cwd=self.root, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        return result.returncode, result.stdout

    def tidy(self):
        return self.run(sys.executable, "tools/tidy.py", ".")

    def build(self, *targets):
        """Configures as preset dev does and builds only these targets."""
        code, out = self.run("cmake", "--preset", "dev")
        assert code == 0, out
        return self.run("cmake", "--build", "--preset", "dev", "-j", str(os.cpu_count()),
                        "--target", *targets)

    def ctest(self, name):
        return self.run("ctest", "--preset", "dev", "-R", f"{name}$")


def copy_of(names, root):
    for name in names:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name)
        elif source.exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, root / name)
    return Tree(root)


@pytest.fixture(scope="session")
def shared_tree(tmp_path_factory):
    return copy_of(COPIED, tmp_path_factory.mktemp("tree"))


@pytest.fixture
def tree(shared_tree):
    yield shared_tree
    shared_tree.weed()


@pytest.fixture(scope="session")
def shared_corner(tmp_path_factory):
    return copy_of(CORNER, tmp_path_factory.mktemp("corner"))


@pytest.fixture
def corner(shared_corner):
    """One layer with the tools, for what needs no more to be seen, once for each mistake."""
    yield shared_corner
    shared_corner.weed()
