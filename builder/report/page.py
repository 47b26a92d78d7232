"""The page around the values: one HTML file that asks nothing of a network, and runs only what is hashed in it.

``page/`` holds it as real files; here the style and the scripts that ``page.html`` names are put into it, and its
Content-Security-Policy (CSP level 3) is made: nothing is allowed but these very styles and scripts, by their sha256.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent / "page"
_STYLE: Final = re.compile(r'<link rel="stylesheet" href="(\w+\.css)">')
_SCRIPT: Final = re.compile(r'<script src="(\w+\.js)"></script>')
_POLICY: Final = "CONTENT_SECURITY_POLICY"
_DATA: Final = "<!-- data -->\n"
# How a report begins; a file that begins otherwise is somebody else's.
MARK: Final = (
    '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="generator" content="harborwright report">\n'
)


def page(data: Iterator[str]) -> Iterator[str]:
    """The pieces of the file.

    Args:
        data: script elements with the values, as they are made.
    """
    before, mark, after = (_FOLDER / "page.html").read_text(encoding="utf-8").partition(_DATA)
    assert before.startswith(MARK) and mark, "page.html has lost its first lines, or the place of its data"
    before, styles = _inlined(before, _STYLE, "style")
    after, scripts = _inlined(after, _SCRIPT, "script")
    policy = (
        f"default-src 'none'; script-src {' '.join(scripts)}; style-src {' '.join(styles)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    yield before.replace(_POLICY, policy)
    yield from data
    yield after


def _inlined(html: str, reference: re.Pattern[str], tag: str) -> tuple[str, list[str]]:
    """The text with each file in the place of its reference, and the hashes of the files as a policy names them."""
    hashes: list[str] = []

    def inline(match: re.Match[str]) -> str:
        content = (_FOLDER / match[1]).read_text(encoding="utf-8")
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        hashes.append(f"'sha256-{digest}'")
        return f"<{tag}>{content}</{tag}>"

    return reference.sub(inline, html), hashes
