"""Fetches a task's tables from a Hugging Face bucket, before its agent starts: run as root, ``python3 -I``.

It runs as the first half of the box's health check, because that is what Harbor runs after the box is up, with the
task's environment and before any agent: a box without its data never meets one. Everything at the prefix (or the files
the row names) is put into /app/data under its last name; two files with one last name are refused. Every file is
written beside and renamed; /opt/harborwright/pulled.json, written last, lists what was fetched and makes a second run
end at once.

Routes, as the Hub's own client uses them: ``/api/buckets/<id>/tree/<prefix>?recursive=true`` lists (pages follow the
Link header), ``/buckets/<id>/resolve/<path>`` gives the bytes. HF_ENDPOINT names another Hub. The token comes from
HF_TOKEN alone and is sent to that Hub alone, never to the store that a download is redirected to.

Exit 0, or one plain sentence and the exit code beside it in FAILURES.
"""

import hashlib
import http.client
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

MANIFEST = "/opt/harborwright/manifest.json"
PULLED = "/opt/harborwright/pulled.json"
DATA = "/app/data"
HUB = "https://huggingface.co"
ATTEMPTS = 4
FIRST_WAIT_SEC = 1.0
TIMEOUT_SEC = 60
PIECE = 1 << 20

FAILURES = {
    "manifest": 60,
    "nothing-at-prefix": 61,
    "folder-empty": 62,
    "name-collision": 63,
    "file-missing": 64,
    "refused": 65,
    "unreachable": 66,
    "damaged": 67,
    "not-writable": 68,
}
REFUSED = {401: "refused", 403: "refused", 404: "nothing-at-prefix"}


class PullError(Exception):
    """Why the tables are not there, by its key in FAILURES."""

    def __init__(self, key, sentence):
        super().__init__(sentence)
        self.key = key


class _KeepTokenHome(urllib.request.HTTPRedirectHandler):
    """Drops the token where a redirect leads to another host."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        new = super().redirect_request(req, fp, code, msg, headers, newurl)
        if new is not None and urllib.parse.urlsplit(new.full_url).netloc != urllib.parse.urlsplit(req.full_url).netloc:
            new.remove_header("Authorization")
        return new


_OPENER = urllib.request.build_opener(_KeepTokenHome)


def attempt(action):
    """Run ``action`` up to four times, waiting longer each time; what cannot get better is not tried again."""
    left, wait_sec = ATTEMPTS, FIRST_WAIT_SEC
    while True:
        left -= 1
        try:
            return action()
        except urllib.error.HTTPError as error:
            if error.code in REFUSED:
                raise PullError(REFUSED[error.code], f"the bucket answered {error.code} for {error.url}") from None
            problem = PullError("unreachable", f"the bucket answered {error.code} for {error.url}")
        except PullError as error:
            if error.key != "damaged":
                raise
            problem = error
        except (OSError, ValueError, http.client.HTTPException) as error:
            problem = PullError("unreachable", f"the bucket cannot be reached: {error}")
        if not left:
            raise problem
        time.sleep(wait_sec)
        wait_sec *= 2


def get(url, token):
    """Open a URL of the Hub."""
    request = urllib.request.Request(url, headers={"User-Agent": "harborwright", "Accept-Encoding": "identity"})
    if token:
        request.add_header("Authorization", "Bearer " + token)
    return _OPENER.open(request, timeout=TIMEOUT_SEC)


def next_page(header):
    """The URL of the page that follows, from a Link header."""
    match = re.search(r'<([^>]+)>\s*;\s*rel="?next"?', header or "")
    return match.group(1) if match else None


def listing(hub, bucket, prefix, token):
    """Everything the bucket lists at the prefix."""
    url = f"{hub}/api/buckets/{bucket}/tree"
    if prefix:
        url += "/" + urllib.parse.quote(prefix, safe="")
    url += "?recursive=true"
    entries, home = [], urllib.parse.urlsplit(hub).netloc
    while url:

        def page(url=url):
            with get(url, token) as response:
                return json.loads(response.read()), next_page(response.headers.get("Link"))

        found, following = attempt(page)
        entries += found
        if following:
            following = urllib.parse.urljoin(url, following)
            if urllib.parse.urlsplit(following).netloc != home:
                raise PullError("unreachable", f"the listing goes on at another host: {following}")
        url = following
    return entries


def below(path, prefix):
    """The path relative to the prefix, or None where it lies elsewhere (a listing's prefix is text, not a folder)."""
    if not prefix:
        return path
    if path == prefix:
        return path.rsplit("/", 1)[-1]
    return path[len(prefix) + 1 :] if path.startswith(prefix + "/") else None


def chosen(entries, prefix, files):
    """``{last name: entry}`` of what is to be fetched."""
    inside = [(entry, below(entry["path"], prefix)) for entry in entries]
    inside = [(entry, relative) for entry, relative in inside if relative]
    if not inside:
        raise PullError("nothing-at-prefix", "the bucket holds nothing at %s" % (prefix or "its top"))
    inside = [(entry, relative) for entry, relative in inside if entry.get("type") == "file"]
    if not any(entry.get("size") for entry, _ in inside):
        raise PullError("folder-empty", "the folder %s of the bucket holds no file with content" % (prefix or "/"))
    if files:
        wanted = {name.strip("/") for name in files}
        found = {name for entry, relative in inside for name in (entry["path"], relative, relative.rsplit("/", 1)[-1])}
        if wanted - found:
            raise PullError("file-missing", f"the bucket has no file {sorted(wanted - found)[0]}")
        inside = [
            (entry, relative)
            for entry, relative in inside
            if wanted & {entry["path"], relative, relative.rsplit("/", 1)[-1]}
        ]
    by_name = {}
    for entry, relative in inside:
        name = relative.rsplit("/", 1)[-1]
        if name in (".", "..") or "\0" in name:
            raise PullError("name-collision", f"{entry['path']!r} cannot be a file's name")
        if name in by_name:
            raise PullError("name-collision", f"{by_name[name]['path']} and {entry['path']} would both be {name}")
        by_name[name] = entry
    return by_name


def local(path, action, *values):
    """Do something to a file of this box; a failure here is no failure of the network, and is not tried again."""
    try:
        return action(*values)
    except OSError as error:
        raise PullError("not-writable", f"{path} cannot be written: {error.strerror}") from None


def fetch(hub, bucket, entry, target, token):
    """Download one file beside its place and rename it; returns its sha256."""
    url = "{}/buckets/{}/resolve/{}".format(hub, bucket, urllib.parse.quote(entry["path"], safe=""))
    beside = target + ".part"

    def once():
        whole, size = hashlib.sha256(), 0
        with local(beside, open, beside, "wb") as file, get(url, token) as response:
            while True:
                piece = response.read(PIECE)
                if not piece:
                    break
                size += len(piece)
                whole.update(piece)
                local(beside, file.write, piece)
            local(beside, file.flush)
        if size != entry["size"]:
            raise PullError("damaged", f"{entry['path']} has {size} bytes, the listing says {entry['size']}")
        local(beside, os.chmod, beside, 0o444)
        local(target, os.replace, beside, target)
        return whole.hexdigest()

    return attempt(once)


def complete():
    """True where an earlier run fetched everything and it still lies there."""
    try:
        with open(PULLED, "rb") as file:
            tables = json.load(file)["tables"]
        return all(os.path.getsize(os.path.join(DATA, table["name"])) == table["bytes"] for table in tables)
    except (OSError, ValueError, KeyError):
        return False


def pull():
    """Fetch what the manifest names."""
    try:
        with open(MANIFEST, "rb") as file:
            source = json.load(file)["bucket"]
        bucket, prefix, files = source["id"], source["prefix"].strip("/"), source["files"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PullError("manifest", f"{MANIFEST} names no bucket: {error!r}") from None
    if complete():
        return
    hub = os.environ.get("HF_ENDPOINT", "").rstrip("/") or HUB
    token = os.environ.get("HF_TOKEN", "").strip()
    tables = []
    for name, entry in sorted(chosen(listing(hub, bucket, prefix, token), prefix, files).items()):
        digest = fetch(hub, bucket, entry, os.path.join(DATA, name), token)
        tables.append({"name": name, "bytes": entry["size"], "sha256": digest})
    with local(PULLED, open, PULLED + ".part", "w") as file:
        local(PULLED, json.dump, {"tables": tables}, file)
    local(PULLED, os.replace, PULLED + ".part", PULLED)


def main():
    """Pull; returns the exit code."""
    try:
        pull()
    except PullError as problem:
        print(problem, file=sys.stderr)
        return FAILURES[problem.key]
    return 0


if __name__ == "__main__":
    sys.exit(main())
