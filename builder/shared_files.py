"""The templates and the files that every task has alike, read from disk once for a whole build.

Baking a task afterwards reads nothing: a file that never varies is a `TaskFile` with its hash, a file that varies is a
compiled template.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import jinja2

from builder.baked import TaskFile
from builder.machine.recipe import base_body
from catalog import paths

# Where a shared file stands in a task directory, and its template below task_templates/.
_STATIC = {
    paths.HEALTHCHECK: f"{paths.TASK_TEMPLATES}/{paths.HEALTHCHECK}",
    paths.SEAL: f"{paths.TASK_TEMPLATES}/{paths.SEAL}",
    paths.PULL_BUCKET: f"{paths.TASK_TEMPLATES}/{paths.PULL_BUCKET}",
    paths.REQUIREMENTS: paths.BASE_REQUIREMENTS,
    paths.TEST_SH: f"{paths.TASK_TEMPLATES}/{paths.TEST_SH}",
}
_EXECUTABLE = frozenset({paths.TEST_SH})
_MOST_RENDERED = 1000  # as many as there are sizes, as a rule a handful


def file_of(path: str, content: bytes, *, executable: bool = False, alike: bool = False) -> TaskFile:
    """A file of these bytes, which this task alone has, or many tasks ``alike``."""
    return TaskFile(path, content, None, hashlib.sha256(content).hexdigest(), executable, alike)


@dataclass(frozen=True, slots=True)
class SharedFiles:
    """What baking needs besides a row.

    Attributes:
        static: the shared files by their place in a task directory.
        base_body: the lines of the base image's Dockerfile below its roots, for a task that builds from a public root.
        grader_sha256: of the grader that is shipped.
    """

    static: dict[str, TaskFile]
    base_body: str
    grader_sha256: str
    instruction: jinja2.Template
    dockerfile: jinja2.Template
    tests_dockerfile: jinja2.Template
    solve_program: jinja2.Template
    solve_filed: jinja2.Template
    _rendered: dict[tuple[object, ...], TaskFile] = field(default_factory=dict)

    @classmethod
    def load(cls, templates: Path = paths.TEMPLATES, grader: Path = paths.GRADER_SOURCE) -> Self:
        """Read and compile everything once.

        Args:
            templates: the folder ``task_templates``.
            grader: the one grader, shipped byte for byte.
        """
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(templates / paths.TASK_TEMPLATES),
            undefined=jinja2.StrictUndefined,
            keep_trailing_newline=True,
            autoescape=False,  # noqa: S701 - Markdown and Dockerfiles, never HTML
        )
        static = {place: _static(place, templates / source) for place, source in _STATIC.items()}
        static[paths.GRADER] = _static(paths.GRADER, grader)
        return cls(
            static=static,
            base_body=base_body().rstrip("\n"),
            grader_sha256=static[paths.GRADER].sha256,
            instruction=environment.get_template("instruction.md.j2"),
            dockerfile=environment.get_template("environment/Dockerfile.j2"),
            tests_dockerfile=environment.get_template("tests/Dockerfile.j2"),
            solve_program=environment.get_template("solution/solve_program.sh.j2"),
            solve_filed=environment.get_template("solution/solve_filed.sh.j2"),
        )

    def render(self, path: str, template: jinja2.Template, *, executable: bool = False, **values: object) -> TaskFile:
        """A rendered file that tasks have alike; rendered once for each set of (hashable) values."""
        key = (path, template.name, *values.items())
        if key not in self._rendered:
            if len(self._rendered) >= _MOST_RENDERED:
                self._rendered.clear()
            content = template.render(values).encode()
            self._rendered[key] = file_of(path, content, executable=executable, alike=True)
        return self._rendered[key]

    def pick(self, places: Iterable[str]) -> list[TaskFile]:
        """The shared files of these places."""
        return [self.static[place] for place in places]


def _static(place: str, source: Path) -> TaskFile:
    content = source.read_bytes()
    return TaskFile(place, None, source, hashlib.sha256(content).hexdigest(), place in _EXECUTABLE, alike=True)
