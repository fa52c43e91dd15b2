"""Every link between pages leads to a file and a heading that exist; a link to another host has the form of one."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.pages import ROOT, name_of, pages

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
PAGES = [pytest.param(page, id=name_of(page)) for page in [*pages(), ROOT / "CHANGELOG.md"]]


def without_code(page: Path) -> str:
    text = re.sub(r"^\s*```.*?^\s*```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


def links(page: Path) -> list[str]:
    return LINK.findall(without_code(page))


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchor of every heading, as GitHub and MyST make it."""
    found: list[str] = []
    for heading in re.findall(r"^#+ (.*?)\s*$", without_code(page), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found.append(slug if slug not in found else f"{slug}-{found.count(slug)}")
    return frozenset(found)


def dead_links(page: Path) -> list[str]:
    dead = []
    for link in links(page):
        parts = urlsplit(link)
        if parts.scheme:
            if parts.scheme != "https" or "." not in parts.netloc:
                dead.append(link)
            continue
        target = page.parent / parts.path if parts.path else page
        if not target.exists() or (parts.fragment and parts.fragment not in anchors(target)):
            dead.append(link)
    return dead


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert dead_links(page) == []


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A head, and `code`\n\n[a](#a-head-and-code) [b](#nowhere) [c](page.md) [d](page.md#gone) [e](gone.md)\n"
        "![f](gone.png) [g](https://example.org/a) [h](https://nowhere) [i](http://example.org)\n\n```\n[j](gone.md)\n```\n"
    )
    assert dead_links(page) == [
        "#nowhere",
        "page.md#gone",
        "gone.md",
        "gone.png",
        "https://nowhere",
        "http://example.org",
    ]
