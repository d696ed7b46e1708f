"""HTML in which text cannot be mistaken for markup."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

# Control characters and lone surrogates have no place in a page; column names may hold them.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

VOID = frozenset({"br", "meta"})


class Markup(str):
    """Text that is HTML already; any other text is escaped on its way into an element."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    """
    Return text as HTML; HTML stays as it is.

    Examples
    --------
    >>> escaped("a < b")
    'a &lt; b'
    >>> escaped(escaped("a < b"))
    'a &lt; b'
    """
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(UNPRINTABLE.sub("\ufffd", text)))


def element(name: str, /, *children: str, **attributes: object) -> Markup:
    """
    Return an HTML element; text among children and attributes is escaped.

    Names of attributes may end in an underscore, where Python keeps the word for itself, and other
    underscores stand for hyphens.

    Examples
    --------
    >>> element("p", "2 > 1", class_="fact")
    '<p class="fact">2 &gt; 1</p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for key, value in attributes.items()
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Sequence[str]) -> Markup:
    """Return pieces one after the other, text escaped."""
    return Markup("".join(escaped(part) for part in parts))


def scrolled(head: Sequence[Markup], rows: Sequence[Sequence[Markup]]) -> Markup:
    """Return a table of cells, which scrolls by itself where it is too wide."""
    body = element("tbody", *(element("tr", *row) for row in rows))
    inner = element("table", element("thead", element("tr", *head)), body)
    return element("div", inner, class_="scroll", tabindex="0")
