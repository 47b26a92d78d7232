#!/usr/bin/env bash
# Starts the registry of this machine on loopback, where it is not up, and sends it the root and the base image where it lost them.
# Data images are kept there and made from the base image there; `make docker` starts it only to push a new image.
set -euo pipefail
# shellcheck source=builder/machine/base.sh
. "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/base.sh"

# holds IMAGE: whether the registry has the manifest by which the engine knows the image.
holds() {
    local digest
    digest=$(digest_of "$1")
    # shellcheck disable=SC2016  # for the shell inside
    timeout 10 bash -c 'exec 3<>"/dev/tcp/$1/$2" && printf "HEAD /v2/$3/manifests/$4 HTTP/1.0\r\nHost: $1\r\nAccept: $5\r\n\r\n" >&3 && grep -q "HTTP/1.. 200" <&3' \
        - "${REGISTRY%:*}" "${REGISTRY##*:}" "$(name_of "$1")" "${digest##*@}" \
        "application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.manifest.v1+json" 2>/dev/null
}

name_of() { local name=${1#"$REGISTRY"/} && echo "${name%:*}"; }

send_what_is_lost() {
    local image before
    for image in "$ROOT_IMAGE" "$BASE_IMAGE"; do
        before=$(digest_of "$image" || true)
        if [ -z "$before" ]; then
            say "registry: this engine has no ${image%:*}; make docker makes it"
        elif ! holds "$image"; then
            push "$image"
            [ "$before" = "$(digest_of "$image")" ] || say "registry: locks name another digest than this; harborwright lock SPEC renews them"
        fi
    done
}

lock_machine
ensure_registry
say "registry: $REGISTRY answers"
if docker_answers; then send_what_is_lost; else say "registry: no Docker engine answers, so nothing was sent to it"; fi
