"""Check a built site: every link within it leads somewhere, nothing comes from elsewhere, no example takes a minute.

python docs/check.py docs/_build/html
"""

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MOST_SECONDS = 60
RUNNING_TIME = re.compile(r"Total running time of the script:</strong> \((\d+) minutes ([\d.]+) seconds\)")
# What a page loads by itself, while a link waits to be clicked.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class Page(HTMLParser):
    """The links of a page, what it loads, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Note what a tag refers to."""
        given = dict(attributes)
        self.anchors.update(given[key] for key in ("id", "name") if given.get(key))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag in LOADED and given.get(LOADED[tag]) and given.get("rel") != "canonical":
            self.loaded.append(given[LOADED[tag]])
        for part in (given.get("srcset") or "").split(","):
            if part.strip():
                self.loaded.append(part.split()[0])


@cache
def read(path):
    """The page in a file."""
    return Page(path.read_text(encoding="utf-8"))


def complaints(site):
    """What is wrong with a site, a line each."""
    for path in sorted(path for path in site.rglob("*.html") if "_static" not in path.parts):
        page, name = read(path), path.relative_to(site)
        for address in page.loaded:
            if urlsplit(address).netloc:
                yield f"{name}: loads {address}"
        for address in [*page.links, *page.loaded]:
            if complaint := broken(site, path, address):
                yield f"{name}: {address} {complaint}"
        for minutes, seconds in RUNNING_TIME.findall(path.read_text(encoding="utf-8")):
            if 60 * int(minutes) + float(seconds) > MOST_SECONDS:
                yield f"{name}: took {minutes} min {seconds} s, and may take {MOST_SECONDS} s"


def broken(site, page, address):
    """Why an address leads nowhere, or None."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file() or not target.is_relative_to(site):
        return "is not there"
    anchor = unquote(parts.fragment)
    if target.suffix == ".html" and anchor and anchor not in read(target).anchors:
        return "has no such place on its page"
    return None


def main(folder):
    """Print what is wrong; give how much."""
    site = Path(folder).resolve()
    found = list(complaints(site))
    print("\n".join(found) or f"{folder}: every link within it leads somewhere, and nothing is loaded from elsewhere")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
