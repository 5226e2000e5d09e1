"""The checkers that people of Python use find nothing: pyflakes, and mypy --strict for each system. mypy knows which
calls a system lacks, so nothing here is of Linux alone. And every public name says what it is."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from .server import REPOSITORY

FOLDER = Path(__file__).parents[1]
OTHERS = ["examples/plugins", "examples/python", "examples/ros", "examples/scenario", "packaging", "e2e/testdata", "codec/compact/testdata"]
"""Folders of the repository with programs in Python."""

INSTALLED = ["playerclient", "player_log.py", "player_ros.py"]


def tool(name: str, package: str) -> str:
    """Returns the path of a program. Without it the test is skipped, but in CI."""
    path = shutil.which(name)
    if path is None and "CI" not in os.environ:
        raise unittest.SkipTest(f"no {name}: install {package}")
    return path or name


def programs_of(page: Path) -> list[str]:
    """Returns the programs in Python on a page."""
    return [block.split("```")[0] for block in page.read_text().split("```python\n")[1:]]


class Checkers(unittest.TestCase):
    def test_pyflakes(self) -> None:
        self.check(tool("pyflakes3", "pyflakes3"), ".", *(str(REPOSITORY / folder) for folder in OTHERS))

    def test_mypy(self) -> None:
        mypy = tool("mypy", "mypy")
        with tempfile.TemporaryDirectory() as cache:
            self.check(mypy, "--strict", "--cache-dir", cache, ".", "../../examples/scenario/logger.py")
            for program in ("plugins/hdaps.py", "plugins/thermometer.py", "python/hello.py"):
                self.check(mypy, "--strict", "--cache-dir", cache, f"../../examples/{program}")
            for platform in ("darwin", "win32"):
                self.check(mypy, "--strict", "--cache-dir", cache, "--platform", platform, *INSTALLED)

    # The programs of the pages are whole.
    def test_readme(self) -> None:
        mypy = tool("mypy", "mypy")
        programs = [p for page in (FOLDER, REPOSITORY) for p in programs_of(page / "README.md")]
        self.assertGreater(len(programs), 6)
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for n, program in enumerate(programs):
                files.append(f"{folder}/program{n}.py")
                Path(files[-1]).write_text(program)
            self.check(mypy, "--strict", "--cache-dir", f"{folder}/cache", "--scripts-are-modules", *files)

    def check(self, *command: str) -> None:
        found = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)


class Docstrings(unittest.TestCase):
    """Editors and the web site show them."""

    def test_all(self) -> None:
        for file in [*(FOLDER / "playerclient").glob("*.py"), FOLDER / "player_log.py"]:
            module = ast.parse(file.read_text())
            self.assertTrue(ast.get_docstring(module) or file.name == "__init__.py", file)
            for node in module.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    self.documented(file.name, node)

    # Comments of fields are in the reference of the web site.
    def test_reference(self) -> None:
        script = REPOSITORY / "packaging" / "site" / "reference.py"
        for module in ("playerclient", "playerclient.simulation", "player_log"):
            command = [sys.executable, str(script), module]
            printed = subprocess.run(
                command, cwd=FOLDER, env={**os.environ, "PYTHONPATH": "."}, capture_output=True, check=True, text=True
            ).stdout
            said = {"playerclient": ["mm ahead of the origin.", "FLOAT: RTK, not settled"]}.get(module, ["deg, counterclockwise"])
            for text in said:
                self.assertIn(text, printed)

    def documented(self, file: str, node: ast.ClassDef) -> None:
        self.assertTrue(ast.get_docstring(node), f"{file}: {node.name}")
        fields = any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in node.bases)
        fields = fields or any(isinstance(base, ast.Attribute) and base.attr in ("Enum", "IntEnum") for base in node.bases)
        for member, after in zip(node.body, [*node.body[1:], None]):
            if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)) and not member.name.startswith("_"):
                self.assertTrue(ast.get_docstring(member), f"{file}: {node.name}.{member.name}")
            if fields and isinstance(member, (ast.Assign, ast.AnnAssign)):
                said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
                self.assertTrue(said, f"{file}: {node.name}: line {member.lineno} has no docstring below it")


if __name__ == "__main__":
    unittest.main()
