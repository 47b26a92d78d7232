# shellcheck shell=bash
# What docker.sh and base.sh share: how a step is told, how a failure names its remedy. Sourced, never run.

say() { printf '[%4ds] %s\n' "$SECONDS" "$*"; }

# fail WHAT NEXT: what is wrong, and what the reader can do about it.
fail() {
    printf 'error: %s\n  next: %s\n' "$1" "$2" >&2
    exit 1
}

as_root() { [ "$(id -u)" = 0 ] || fail "$1 needs root" "run it again as root: sudo $0"; }

# Everything here is bounded: an engine that accepts a connection and never answers must not hold a script.
docker_answers() { timeout 15 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

apt_quietly() {
    DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >"$SCRATCH/apt.log" 2>&1 || {
        tail -n 20 "$SCRATCH/apt.log" >&2
        fail "apt-get $* failed (its last lines stand above)" "mend the machine's apt sources, then run this again"
    }
}

APT_FRESH=no
apt_update() {
    [ "$APT_FRESH" = yes ] && return
    apt_quietly update
    APT_FRESH=yes
}

apt_install() {
    apt_update
    apt_quietly install -y --no-install-recommends "$@"
}

# The address of the Debian archive this machine already uses: no mirror's name stands in this repository.
debian_mirror() {
    local codename
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk -v codename="$codename" '$1 == "Debian" && $2 == codename && $3 == "main" { print $4; exit }'
}

require_debian() {
    command -v apt-get >/dev/null || fail "$1 is lacking and this is no Debian" "install $1 by your system's own means, then run this again"
    apt_update
    MIRROR=$(debian_mirror)
    [ -n "$MIRROR" ] || fail "no Debian archive among this machine's apt sources" "add one (suite main) to /etc/apt/sources.list.d, then run this again"
}

# unpack_from SUITE DESTINATION PACKAGE...: a package's files without installing it, through apt with lists and status of its own, so
# that the machine's sources and pins are not touched. apt checks the archive's signature and the packages' checksums.
unpack_from() {
    local suite=$1 destination=$2 apt_root="$SCRATCH/apt-$1"
    shift 2
    mkdir -p "$apt_root"/{lists/partial,cache/archives/partial,debs} "$destination"
    : >"$apt_root/status"
    echo "deb [signed-by=$DEBIAN_KEYRING] $MIRROR $suite main" >"$apt_root/sources.list"
    local options=(
        -qq -o APT::Sandbox::User=root -o Dir::Etc::sourcelist="$apt_root/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::lists="$apt_root/lists" -o Dir::State::status="$apt_root/status"
        -o Dir::Cache="$apt_root/cache" -o Acquire::Languages=none -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false
    )
    {
        [ -n "$(ls "$apt_root/lists" 2>/dev/null | grep -v partial)" ] || apt-get "${options[@]}" update
        (cd "$apt_root/debs" && rm -f ./*.deb && apt-get "${options[@]}" download "$@")
    } >"$SCRATCH/apt.log" 2>&1 || {
        tail -n 20 "$SCRATCH/apt.log" >&2
        fail "Debian's $suite did not give $*" "see whether the archive at $MIRROR carries $suite, and apt-get install debian-archive-keyring"
    }
    local deb
    for deb in "$apt_root"/debs/*.deb; do dpkg-deb -x "$deb" "$destination"; done
}

DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
STATE=/var/lib/harborwright
LOGS=/var/log/harborwright
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/harborwright.XXXXXX")
trap 'rm -rf "$SCRATCH"' EXIT
