# shellcheck shell=bash
# shellcheck disable=SC2034  # what is set here is read by those who source this
# What docker.sh and base.sh share: how a step is told, how a failure names its remedy. Sourced, never run.

# Counted from the first script's start, also in those it runs.
export HARBORWRIGHT_STARTED=${HARBORWRIGHT_STARTED:-$EPOCHSECONDS}
SECONDS=$((EPOCHSECONDS - HARBORWRIGHT_STARTED))

say() { printf '[%4ds] %s\n' "$SECONDS" "$*"; }

# fail WHAT NEXT: what is wrong, and what the reader can do about it.
fail() {
    printf 'error: %s\n  next: %s\n' "$1" "$2" >&2
    exit 1
}

as_root() {
    [ "$(id -u)" = 0 ] || fail "$1 needs root, and this runs as $(id -un)" "run it again as root: sudo $0 (without sudo: su root -c $0)"
}

# Everything here is bounded: an engine that accepts a connection and never answers must not hold a script.
docker_answers() { timeout 15 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# An engine that runs and refuses this user must not be told as none.
refuse_stranger() {
    local user
    user=$(id -un)
    if [[ $(timeout 15 docker version 2>&1) == *"permission denied"* ]]; then
        fail "a Docker engine is here, and user $user may not use it" "as root: usermod -aG docker $user; then log in again, and run this again"
    fi
}

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
    # shellcheck disable=SC2016  # apt's own placeholders
    apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk -v codename="$codename" '$1 == "Debian" && $2 == codename && $3 == "main" { print $4; exit }'
}

require_debian() {
    command -v apt-get >/dev/null || fail "$1 is lacking and this is no Debian" "install $1 by your system's own means, then run this again"
    apt_update
    MIRROR=$(debian_mirror)
    [ -n "$MIRROR" ] || fail "$1 is lacking, and this machine ($(. /etc/os-release && echo "${PRETTY_NAME:-unnamed}")) has no Debian archive among its apt sources" \
        "on Debian, name one with its component main in /etc/apt/sources.list.d; elsewhere install Docker with compose v2 and buildx by your system's own means; then run this again"
}

# unpack_from SUITE DESTINATION PACKAGE...: a package's files without installing it, through apt with lists and status of its own, so
# that the machine's sources and pins are not touched. apt checks the archive's signature and the packages' checksums.
unpack_from() {
    local suite=$1 destination=$2 apt_root
    shift 2
    apt_root=$(mktemp -d "$SCRATCH/apt.XXXXXX")
    mkdir -p "$apt_root"/{lists/partial,cache/archives/partial,debs} "$destination"
    : >"$apt_root/status"
    echo "deb [signed-by=$DEBIAN_KEYRING] $MIRROR $suite main" >"$apt_root/sources.list"
    local options=(
        -qq -o APT::Sandbox::User=root -o Dir::Etc::sourcelist="$apt_root/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::lists="$apt_root/lists" -o Dir::State::status="$apt_root/status"
        -o Dir::Cache="$apt_root/cache" -o Acquire::Languages=none -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false
    )
    {
        apt-get "${options[@]}" update
        (cd "$apt_root/debs" && apt-get "${options[@]}" download "$@")
    } >"$SCRATCH/apt.log" 2>&1 || {
        tail -n 20 "$SCRATCH/apt.log" >&2
        fail "Debian's $suite did not give $*" "see whether the archive at $MIRROR carries $suite, and apt-get install debian-archive-keyring"
    }
    local deb
    for deb in "$apt_root"/debs/*.deb; do dpkg-deb -x "$deb" "$destination"; done
}

# Two runs at once would start two engines and make every image twice; the lock goes with the process that took it.
lock_machine() {
    if [ -n "${HARBORWRIGHT_LOCKED:-}" ] || [ ! -w /run ]; then return; fi
    exec 9>/run/harborwright-docker.lock
    flock -w 900 9 || fail "another run has held the lock on this machine's images for a quarter of an hour" "end that run, then start this one again"
    export HARBORWRIGHT_LOCKED=yes
}

# A Debian machine has it: apt itself depends on it.
DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
STATE=/var/lib/harborwright
LOGS=/var/log/harborwright
# Not under /tmp, which may be small, and mounted so that nothing in it runs.
SCRATCH=$(mktemp -d "${TMPDIR:-/var/tmp}/harborwright.XXXXXX")

# An interrupted debootstrap leaves the kernel's file systems mounted in its tree.
clean_up() {
    local mounted
    while read -r mounted; do umount "$mounted"; done < <(awk -v below="$SCRATCH/" 'index($2, below) == 1 { print $2 }' /proc/mounts | sort -r)
    rm -rf --one-file-system "$SCRATCH"
}
trap clean_up EXIT
