#!/usr/bin/env bash
# Makes the two images tasks stand on, and gives them digests:
#
#   REGISTRY/harborwright/root:current   Python 3.13 and nothing else (the verifier's)
#   REGISTRY/harborwright/base:current   root + task_templates/base (the agent's)
#
# The root is the public python:3.13-slim where a registry answers, else a debootstrap of Debian's Python 3.13. An image has a digest
# only once it was pushed, so both go once to a registry on this machine's loopback; builds by that digest need it no more.
# Each image carries the digest of its recipe as a label: what is current is kept, what has changed is made anew.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=builder/machine/common.sh
. "$here/common.sh"

REGISTRY=${HARBORWRIGHT_REGISTRY:-localhost:5000}
ROOT_IMAGE=$REGISTRY/harborwright/root:current
BASE_IMAGE=$REGISTRY/harborwright/base:current
BASE_FILES=$here/../../task_templates/base
PUBLIC_ROOT=python:3.13-slim
SUITE=trixie
PACKAGES=python3,python3-venv,ca-certificates,netbase,tzdata
BUILD=(docker build --progress plain --label "harborwright.image=yes")

main() {
    if ! docker_answers; then
        refuse_stranger
        fail "no Docker engine answers" "builder/machine/docker.sh"
    fi
    ensure_root
    ensure_base
    prove
}

ensure_root() {
    local recipe bare certificates
    certificates=$(own_certificates)
    recipe=$({ echo "$SUITE $PACKAGES $PUBLIC_ROOT"; [ -z "$certificates" ] || cat "$certificates"; cat "$BASE_FILES/root.Dockerfile"; } | digest)
    if is_current "$ROOT_IMAGE" "$recipe"; then
        say "root image: current ($(digest_of "$ROOT_IMAGE"))"
        return
    fi
    say "root image: asking for $PUBLIC_ROOT (two minutes at most)"
    if timeout 120 docker pull --quiet "$PUBLIC_ROOT" >/dev/null 2>&1; then
        bare=$PUBLIC_ROOT
        say "root image: pulled $PUBLIC_ROOT"
    else
        bare=harborwright-bare-root
        bootstrap "$bare"
    fi
    mkdir "$SCRATCH/root"
    if [ -n "$certificates" ]; then
        cp -L "$certificates" "$SCRATCH/root/ca-certificates.crt"
        build_or_fail "$ROOT_IMAGE" "$recipe" --build-arg "BARE=$bare" --file "$BASE_FILES/root.Dockerfile" "$SCRATCH/root"
        say "root image: carries this machine's certificates ($certificates)"
    else
        echo "FROM $bare" >"$SCRATCH/root/Dockerfile"
        build_or_fail "$ROOT_IMAGE" "$recipe" "$SCRATCH/root"
    fi
    # Its layers stay, as the root's.
    if [ "$bare" != "$PUBLIC_ROOT" ]; then docker rmi "$bare" >/dev/null; fi
    push "$ROOT_IMAGE"
}

# A bundle of this machine's own, where it has one: behind a TLS proxy the stock certificates reach nothing.
own_certificates() {
    local own
    if [ -n "${SSL_CERT_FILE:-}" ] && [ -f "$SSL_CERT_FILE" ]; then
        echo "$SSL_CERT_FILE"
    else
        own=$(find /usr/local/share/ca-certificates -name '*.crt' -print -quit 2>/dev/null || true)
        if [ -n "$own" ]; then echo /etc/ssl/certs/ca-certificates.crt; fi
    fi
}

bootstrap() {
    local tree=$SCRATCH/tree
    as_root "debootstrap"
    require_debian "debootstrap"
    say "root image: no registry gives it; making one of Debian $SUITE with debootstrap (about a minute)"
    command -v debootstrap >/dev/null || apt_install debootstrap
    debootstrap --variant=minbase --include="$PACKAGES" --keyring="$DEBIAN_KEYRING" "$SUITE" "$tree" "$MIRROR" >"$SCRATCH/debootstrap.log" 2>&1 || {
        tail -n 15 "$SCRATCH/debootstrap.log" >&2
        fail "debootstrap of $SUITE failed (its last lines stand above)" "see whether the archive at $MIRROR answers, then run this again"
    }
    # The same paths and the same pip as in the public image: /usr/local/bin/{python,python3,pip}, and no refusal to install.
    ln -s /usr/bin/python3 "$tree/usr/local/bin/python"
    ln -s /usr/bin/python3 "$tree/usr/local/bin/python3"
    rm -f "$tree"/usr/lib/python3*/EXTERNALLY-MANAGED "$tree"/etc/hostname "$tree"/etc/resolv.conf
    # pip out of the wheel that venv carries: the package python3-pip brings libraries that pip itself may not replace.
    # shellcheck disable=SC2016  # for the shell inside
    chroot "$tree" /bin/sh -c 'wheel=$(ls /usr/share/python-wheels/pip-*.whl) && python3 "$wheel/pip" install --quiet --no-index --no-deps "$wheel"' \
        >"$SCRATCH/pip.log" 2>&1 || fail "pip could not be installed in the root: $(tail -n 1 "$SCRATCH/pip.log")" "run this again; if it stays so, report it"
    rm -rf "$tree"/var/cache/apt/* "$tree"/var/lib/apt/lists/* "$tree"/var/log/* "$tree"/usr/share/{doc,info,lintian,locale,man}
    tar -C "$tree" --sort=name --numeric-owner -c . | docker import --change 'CMD ["python3"]' \
        --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' - "$1" >/dev/null
    say "root image: made of Debian $SUITE with debootstrap"
}

ensure_base() {
    local root recipe
    root=$(digest_of "$ROOT_IMAGE")
    recipe=$({ cat "$BASE_FILES/Dockerfile" "$BASE_FILES/requirements.txt"; echo "$root"; } | digest)
    if is_current "$BASE_IMAGE" "$recipe"; then
        say "base image: current ($(digest_of "$BASE_IMAGE"))"
        return
    fi
    local arguments=(--build-arg "ROOT=$root") name
    for name in PIP_INDEX_URL PIP_EXTRA_INDEX_URL; do
        if [ -n "${!name:-}" ]; then arguments+=(--build-arg "$name=${!name}"); fi
    done
    say "base image: being built, its libraries come from the package index (half a minute or more)"
    build_or_fail "$BASE_IMAGE" "$recipe" "${arguments[@]}" "$BASE_FILES"
    say "base image: built from task_templates/base"
    push "$BASE_IMAGE"
}

# build_or_fail IMAGE RECIPE ARGUMENT...
build_or_fail() {
    local image=$1 recipe=$2
    shift 2
    "${BUILD[@]}" --label "harborwright.recipe=$recipe" --tag "$image" "$@" >"$SCRATCH/build.log" 2>&1 || {
        tail -n 25 "$SCRATCH/build.log" >&2
        fail "$image could not be built (the last lines stand above)" "see whether a container here reaches the package index, then run this again"
    }
}

digest() { sha256sum | cut -d ' ' -f 1; }

is_current() {
    [ "$(docker image inspect --format '{{index .Config.Labels "harborwright.recipe"}}' "$1" 2>/dev/null)" = "$2" ] && [ -n "$(digest_of "$1")" ]
}

digest_of() { docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$1" 2>/dev/null | grep "^${1%:*}@" | head -n 1; }

push() {
    ensure_registry
    timeout 600 docker push --quiet "$1" >"$SCRATCH/push.log" 2>&1 || {
        tail -n 5 "$SCRATCH/push.log" >&2
        fail "$1 could not be pushed" "see $LOGS/registry.log, and that the disk has room under $STATE"
    }
    say "pushed $(digest_of "$1")"
}

registry_answers() {
    # shellcheck disable=SC2016  # for the shell inside
    timeout 5 bash -c 'exec 3<>"/dev/tcp/$1/$2" && printf "GET /v2/ HTTP/1.0\r\nHost: $1\r\n\r\n" >&3 && grep -q "HTTP/1.. 200" <&3' \
        - "${REGISTRY%:*}" "${REGISTRY##*:}" 2>/dev/null
}

# Debian's registry, its binary alone: the package would start a service that listens to every network.
ensure_registry() {
    local binary=$STATE/bin/docker-registry config pid i
    registry_answers && return
    as_root "starting a registry"
    if [ ! -x "$binary" ]; then
        require_debian "a registry"
        unpack_from "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$SCRATCH/registry" docker-registry
        install -D -m 755 "$SCRATCH/registry/usr/bin/docker-registry" "$binary"
    fi
    mkdir -p "$STATE/registry" "$LOGS"
    config=$STATE/registry-${REGISTRY##*:}.yml
    sed -e "s|@DIRECTORY@|$STATE/registry|" -e "s|@ADDRESS@|127.0.0.1:${REGISTRY##*:}|" "$here/registry.yml" >"$config"
    setsid nohup "$binary" serve "$config" >>"$LOGS/registry.log" 2>&1 </dev/null 9>&- &
    pid=$!
    for ((i = 0; i < 60; i++)); do
        if registry_answers; then
            say "registry: serves $REGISTRY (log: $LOGS/registry.log)"
            return
        fi
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.25
    done
    tail -n 5 "$LOGS/registry.log" >&2
    fail "the registry did not come up at $REGISTRY" "see what else uses that port, or set HARBORWRIGHT_REGISTRY=localhost:PORT"
}

# What the tasks count on, tried out: a network, the libraries for an ordinary user, and a memory limit that kills.
prove() {
    local base root status=0
    base=$(digest_of "$BASE_IMAGE")
    root=$(digest_of "$ROOT_IMAGE")
    timeout 120 docker run --rm --network bridge --user agent "$base" python -c 'import duckdb, openpyxl, pandas, pyarrow, scipy, sklearn, statsmodels.api' ||
        fail "the base image does not run its libraries as an ordinary user" "docker run --rm -it $base bash"
    timeout 60 docker run --rm --memory 64m --memory-swap 64m "$root" python3 -c 'print(len(b"x" * (200 << 20)))' >/dev/null 2>&1 || status=$?
    [ "$status" = 137 ] || fail "200 MB fit into a container limited to 64 MB (exit $status, not 137)" "give the engine's host a working memory cgroup: see docker info"
    say "proof: libraries run as user agent, a memory limit of 64m ends 200 MB (exit 137)"
}

# Sourced, it only offers its functions.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    lock_machine
    main
fi
