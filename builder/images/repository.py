"""One repository of a registry: its manifests and blobs by digest (OCI distribution protocol).

Nothing is sent that is there (a HEAD tells), nothing is believed that does not hash to its digest, and what was sent is
there only once the registry has named its digest. Every failure is an ``ImageError`` with the command that comes next.
"""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Final

from builder.images.client import Answer, Body, Client
from builder.images.troubles import told
from builder.retries import ATTEMPTS
from catalog.errors import ImageError

OCI_INDEX: Final = "application/vnd.oci.image.index.v1+json"
OCI_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
DOCKER_LIST: Final = "application/vnd.docker.distribution.manifest.list.v2+json"
DOCKER_MANIFEST: Final = "application/vnd.docker.distribution.manifest.v2+json"
MANIFESTS: Final = (OCI_INDEX, DOCKER_LIST, OCI_MANIFEST, DOCKER_MANIFEST)
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Repository:
    """Images of one name at one registry.

    Attributes:
        host: the registry.
        path: the name of the repository there.
        again: the command that is to be run once what failed is mended.
        reads: other repositories of this registry that blobs are taken over from.
        attempts: how often a request is made where the registry is busy or silent.
    """

    host: str
    path: str
    again: str
    reads: tuple[str, ...] = ()
    attempts: int = ATTEMPTS
    client: Client = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "client", Client(self.host, attempts=self.attempts))

    def __str__(self) -> str:
        return f"{self.host}/{self.path}"

    def holds(self, kind: str, digest: str) -> bool:
        """Whether the repository holds a manifest (``kind`` "manifests") or a blob ("blobs") of this digest."""
        url = self._url(kind, digest)
        return self._tried(lambda: self.client.patiently(lambda: self._head(url)), f"{self}@{digest}")

    def manifest(self, digest: str) -> tuple[str, bytes] | None:
        """A manifest's media type and bytes; None where the repository does not hold it.

        Raises:
            ImageError: where it cannot be had, or has another digest.
        """
        found = self._tried(lambda: self._get("manifests", digest), f"{self}@{digest}")
        return None if found is None else (found.headers.get_content_type(), found.body)

    def blob(self, digest: str) -> bytes:
        """A small blob's bytes, as a configuration is.

        Raises:
            ImageError: where it cannot be had, or has another digest.
        """
        found = self._tried(lambda: self._get("blobs", digest), f"{self}@{digest}")
        if found is None:
            raise ImageError(
                "the registry lost a part of an image",
                where=str(self),
                expected=f"the blob {digest}",
                found="none",
                fix=f"push the image again, then {self.again}",
            )
        return found.body

    def pieces(self, digest: str) -> Iterator[bytes]:
        """A blob's bytes, streamed; whoever they are sent to holds them against their digest.

        Raises:
            ImageError: where they cannot be had, so that whoever sends them on does not take it for his own network's.
        """
        try:
            with self.client.stream(self._url("blobs", digest), self._pull) as response:
                while piece := response.read(_PIECE):
                    yield piece
        except (OSError, HTTPException, ValueError) as error:
            raise told(error, self.host, f"{self}@{digest}", self.again) from None

    def mount(self, digest: str, source: str) -> bool:
        """Take over a blob that another repository of this registry holds; False where the registry does not do so."""
        query = urllib.parse.urlencode({"mount": digest, "from": source})

        def ask() -> bool:
            answer = self.client.send("POST", f"{self._url('blobs', 'uploads')}/?{query}", self._push)
            return answer.status == 201

        return self._tried(lambda: self.client.patiently(ask), str(self))

    def send_blob(self, digest: str, body: Body) -> None:
        """Send a blob, from its beginning where a connection was cut.

        Raises:
            ImageError: where the registry refuses it, has no room for it or names another digest for it.
        """

        def upload() -> Answer:
            begun = self.client.send("POST", f"{self._url('blobs', 'uploads')}/", self._push)
            place = urllib.parse.urljoin(f"{self.client.base_url}/", begun.headers.get("Location") or "")
            mark = "&" if urllib.parse.urlsplit(place).query else "?"
            return self.client.send("PUT", f"{place}{mark}digest={digest}", self._push, body=body)

        self._same(self._tried(lambda: self.client.patiently(upload), str(self)), digest)

    def send_manifest(self, digest: str, media_type: str, content: bytes, name: str) -> None:
        """Send a manifest, the last part of an image: from now on the image is there.

        Args:
            digest: the manifest's.
            media_type: the manifest's.
            content: its bytes.
            name: a tag, which keeps registries from clearing it away; or the digest, for a part of an index.

        Raises:
            ImageError: where the registry refuses it, or names another digest for it.
        """
        url, body = self._url("manifests", name), Body.of(content, media_type)
        sent = self._tried(lambda: self.client.patiently(lambda: self._put(url, body)), str(self))
        self._same(sent, digest)

    @property
    def _pull(self) -> str:
        return f"repository:{self.path}:pull"

    @property
    def _push(self) -> str:
        return " ".join([f"repository:{self.path}:pull,push", *(f"repository:{path}:pull" for path in self.reads)])

    def _url(self, kind: str, name: str) -> str:
        return f"/v2/{self.path}/{kind}/{name}"

    def _head(self, url: str) -> bool:
        try:
            return self.client.send("HEAD", url, self._pull, {"Accept": ", ".join(MANIFESTS)}).status == 200
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return False
            raise

    def _put(self, url: str, body: Body) -> Answer:
        return self.client.send("PUT", url, self._push, body=body)

    def _get(self, kind: str, digest: str) -> Answer | None:
        url, headers = self._url(kind, digest), {"Accept": ", ".join(MANIFESTS)}
        try:
            found = self.client.patiently(lambda: self.client.send("GET", url, self._pull, headers))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise
        self._compare(digest, f"sha256:{hashlib.sha256(found.body).hexdigest()}")
        return found

    def _same(self, answer: Answer, digest: str) -> None:
        """What a registry calls what it took in; one that does not say is asked."""
        self._compare(digest, answer.headers.get("Docker-Content-Digest") or digest)

    def _compare(self, expected: str, found: str) -> None:
        if expected != found:
            raise ImageError(
                "the registry holds other bytes than it was given",
                where=str(self),
                expected=expected,
                found=found[:120],
                fix=f"see what stands between here and {self.host} (a cache, a proxy), then {self.again}",
            )

    def _tried[T](self, call: Callable[[], T], where: str) -> T:
        try:
            return call()
        except (OSError, HTTPException, ValueError) as error:
            raise told(error, self.host, where, self.again) from None
