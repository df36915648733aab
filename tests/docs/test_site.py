"""The site: what is public has a page, pictures are drawn, and the check of the built pages finds what is broken."""

from __future__ import annotations

import importlib.util
from importlib import import_module
from pathlib import Path
from types import ModuleType

import made
import pytest

import elene

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def check():
    spec = importlib.util.spec_from_file_location("check_site", DOCS / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def public_objects():
    """All that a user can import from elene and from the rooms it offers, by the name it goes by."""
    rooms = [value for name in elene.__all__ if isinstance(value := getattr(elene, name), ModuleType)]
    for module in [elene, *rooms]:
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if not name.startswith("__") and not isinstance(value, ModuleType):
                yield f"{module.__name__}.{name}", value


def test_everything_public_is_in_the_reference_once(tmp_path):
    made.write_rooms(tmp_path)
    listed = []
    for page in tmp_path.glob("*.rst"):
        names = page.read_text().partition(":nosignatures:")[2].split()
        listed += [getattr(import_module(page.stem), name) for name in names]
    for name, value in public_objects():
        assert sum(value is other for other in listed) == 1, name


def test_the_index_of_the_reference_names_every_room(tmp_path):
    made.write_rooms(tmp_path)
    table = (tmp_path / "table.txt").read_text().splitlines()
    rooms = [name for name in elene.__all__ if isinstance(getattr(elene, name), ModuleType)]
    for room in ["elene", *(f"elene.{name}" for name in rooms)]:
        assert sum(f"(rooms/{room})" in line for line in table) == 1, room


def test_the_help_of_every_command_is_there(tmp_path):
    from elene.cli import app

    made.write_commands(tmp_path)
    page = (tmp_path / "command-line.md").read_text()
    for command in app.registered_commands:
        assert f"## elene {command.name}\n" in page
    assert "Traceback" not in page
    assert page.count("Usage:") == len(app.registered_commands)


def test_pictures_are_drawn(tmp_path):
    import pictures

    pictures.draw_all(tmp_path)
    wanted = {name for page in DOCS.rglob("*.md") for name in made.PICTURE.findall(page.read_text())}
    assert wanted == {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ('<a href="other.html#here">fine</a>', None),
        ('<a href="https://example.org/nowhere">elsewhere</a>', None),
        ('<a href="gone.html">x</a>', "gone.html is not there"),
        ('<a href="other.html#there">x</a>', "other.html#there has no such place"),
        ('<a href="../outside.html">x</a>', "../outside.html is not there"),
        ('<img src="gone.png">', "gone.png is not there"),
        ('<script src="https://cdn.example.org/a.js"></script>', "loads https://cdn.example.org/a.js"),
        ("<strong>Total running time of the script:</strong> (1 minutes 0.500 seconds)", "took 1 min 0.500 s"),
    ],
)
def test_the_check_finds_what_is_broken(check, tmp_path, body, complaint):
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "outside.html").write_text("outside")
    (site / "other.html").write_text('<p id="here">here</p>')
    (site / "index.html").write_text(body)
    found = list(check.complaints(site))
    assert len(found) == (complaint is not None)
    assert complaint is None or complaint in found[0]
