#!/usr/bin/env bash
# Brings a Docker engine with compose v2 and buildx to a Debian machine, and proves it; then base.sh makes the images tasks stand on.
# It does only what is lacking: where an engine answers, it is left alone. Run as root when something has to be installed.
#
#   builder/machine/docker.sh              everything
#   builder/machine/docker.sh --no-images  the engine, compose and buildx alone
#
# DOCKER_HOST is honoured: an engine on another machine is used as it is, and never started from here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=builder/machine/common.sh
. "$here/common.sh"

PLUGINS=/usr/local/lib/docker/cli-plugins
# Debian 12 has neither compose v2 nor buildx; both of Debian 13's are Go binaries that run there.
PLUGIN_SUITE=trixie

USAGE="usage: $0 [--no-images]
Brings a Docker engine with compose v2 and buildx to a Debian machine, then makes the images that tasks stand on (not with --no-images).
It does only what is lacking; run it as root when something has to be installed or started."

main() {
    ensure_engine
    ensure_plugin compose docker-compose
    ensure_plugin buildx docker-buildx
    report_engine
    if [ "${1:-}" != --no-images ]; then "$here/base.sh"; fi
    tell_who_came_by_sudo
    say "Docker is ready"
}

ensure_engine() {
    if command -v docker >/dev/null && docker_answers; then
        say "engine: answers already, left alone"
        return
    fi
    refuse_stranger
    [ -z "${DOCKER_HOST:-}" ] || fail "no engine answers at DOCKER_HOST=$DOCKER_HOST" "start it there, or unset DOCKER_HOST to have one here"
    as_root "starting an engine"
    if ! command -v dockerd >/dev/null; then
        say "engine: installing Debian's docker.io"
        require_debian "Docker"
        # Without certificates no registry is believed; where the kernel has AppArmor, no container starts without its parser.
        apt_install docker.io ca-certificates
        if [ "$(cat /sys/module/apparmor/parameters/enabled 2>/dev/null)" = Y ]; then apt_install apparmor; fi
        # From Debian 13 on, the client is a package of its own.
        command -v docker >/dev/null || apt_install docker-cli
        say "engine: installed Debian's docker.io"
    fi
    docker_answers || start_engine
}

start_engine() {
    if [ -d /run/systemd/system ]; then
        systemctl start docker || fail "systemd could not start docker" "journalctl -u docker shows why"
        wait_for_engine ""
        say "engine: started by systemd"
        return
    fi
    local options=(--log-level warn) mtu running
    mkdir -p "$LOGS"
    touch "$LOGS/dockerd.log"
    # Started a moment ago by the package, or frozen: a second one would only end the first one's containers.
    running=$(pidof -s dockerd || true)
    if [ -n "$running" ]; then
        wait_for_engine "$running"
        return
    fi
    ensure_cgroups
    ensure_iptables
    # A bridge wider than the way out loses large packets on networks that drop the notices about it.
    mtu=$(way_out_mtu)
    if [ -n "$mtu" ] && [ "$mtu" -lt 1500 ]; then options+=(--mtu "$mtu"); fi
    forget_dead_engines
    setsid nohup dockerd "${options[@]}" >>"$LOGS/dockerd.log" 2>&1 </dev/null 9>&- &
    wait_for_engine "$!"
    say "engine: started dockerd (log: $LOGS/dockerd.log)"
}

# An engine that was killed leaves its number behind; where nothing reaps the dead, the next one takes it for alive.
forget_dead_engines() {
    local file
    for file in /var/run/docker.pid /var/run/docker/containerd/containerd.pid; do
        if [ -f "$file" ] && ! pidof dockerd containerd | grep -qw "$(cat "$file")"; then rm -f "$file"; fi
    done
}

wait_for_engine() {
    local pid=$1 deadline=$((SECONDS + 60))
    while ((SECONDS < deadline)); do
        docker_answers && return
        if [ -n "$pid" ] && ! kill -0 "$pid" 2>/dev/null; then
            tail -n 15 "$LOGS/dockerd.log" >&2
            fail "dockerd ended while starting (its last lines stand above)" "read $LOGS/dockerd.log; it names what the kernel or the disk lacks"
        fi
        sleep 0.5
    done
    [ -n "$pid" ] || fail "systemd started docker, and it did not answer within a minute" "journalctl -u docker shows why; systemctl restart docker, then run this again"
    fail "dockerd runs (process $pid) and did not answer within a minute" "read $LOGS/dockerd.log; a frozen one: kill -CONT $pid, or end it and run this again"
}

# Without a memory controller an agent's limit is only a wish.
ensure_cgroups() {
    if [ -e /sys/fs/cgroup/memory ] || grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then return; fi
    local controller
    if ! mountpoint -q /sys/fs/cgroup; then
        if mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null; then
            if grep -qw memory /sys/fs/cgroup/cgroup.controllers; then
                say "engine: mounted cgroup2"
                return
            fi
            # The kernel keeps its controllers in the older hierarchies; beside them this one would mislead the engine.
            umount /sys/fs/cgroup
        fi
        mount -t tmpfs -o mode=755 cgroup /sys/fs/cgroup
    fi
    while read -r controller; do
        mkdir -p "/sys/fs/cgroup/$controller"
        mountpoint -q "/sys/fs/cgroup/$controller" || mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller" || true
    done < <(awk '!/^#/ && $4 == 1 { print $1 }' /proc/cgroups)
    mountpoint -q /sys/fs/cgroup/memory || fail "the kernel offers no memory cgroup" "boot with cgroup_enable=memory, or use a machine or runtime that has it"
    say "engine: mounted the cgroup controllers"
}

# Debian's iptables speaks nf_tables; kernels that only have the older tables need the other front.
ensure_iptables() {
    iptables -t nat -nL >/dev/null 2>&1 && return
    if iptables-legacy -t nat -nL >/dev/null 2>&1; then
        update-alternatives --set iptables /usr/sbin/iptables-legacy >/dev/null
        say "engine: switched iptables to its older tables"
        return
    fi
    fail "iptables gives no NAT table: $(iptables -t nat -nL 2>&1 | tail -n 1)" \
        "load ip_tables/nf_tables with iptable_nat; where this is a container itself, run it privileged, or use another machine"
}

way_out_mtu() {
    local device
    device=$(awk '$2 == "00000000" { print $1; exit }' /proc/net/route)
    if [ -n "$device" ]; then cat "/sys/class/net/$device/mtu"; fi
}

ensure_plugin() {
    local plugin=$1 package=$2 unpacked
    if docker "$plugin" version >/dev/null 2>&1; then
        say "$plugin: $(plugin_version "$plugin"), left alone"
        return
    fi
    as_root "installing $plugin"
    require_debian "docker $plugin"
    unpacked="$SCRATCH/$plugin"
    unpack_from "$PLUGIN_SUITE" "$unpacked" "$package"
    mkdir -p "$PLUGINS"
    install -m 755 "$(find "$unpacked" -path '*cli-plugins*' -name "docker-$plugin" -type f)" "$PLUGINS/docker-$plugin"
    docker "$plugin" version >/dev/null 2>&1 || fail "docker-$plugin of Debian $PLUGIN_SUITE does not run here" "$PLUGINS/docker-$plugin version shows why"
    say "$plugin: $(plugin_version "$plugin") from Debian $PLUGIN_SUITE, in $PLUGINS"
}

plugin_version() { docker "$1" version 2>/dev/null | grep -oE 'v?[0-9]+\.[0-9]+\.[0-9]+[^ ]*' | head -n 1; }

report_engine() {
    local version driver memory
    read -r version driver memory < <(timeout 30 docker info --format '{{.ServerVersion}} {{.Driver}} {{.MemoryLimit}}')
    [ "$memory" = true ] || fail "the engine cannot limit memory" "its host needs the memory cgroup: see docker info"
    [ "$driver" != vfs ] || fail "the engine's storage driver is vfs, which copies every image for every container" "put Docker's data on ext4 or xfs (dockerd --data-root)"
    say "engine: $version, storage driver $driver, memory limits on"
}

# Who came by sudo goes on without it.
tell_who_came_by_sudo() {
    local user=${SUDO_USER:-root}
    if [ "$user" = root ] || [ -n "${DOCKER_HOST:-}" ] || id -nG "$user" | grep -qw docker; then return; fi
    say "for $user to use it without sudo: sudo usermod -aG docker $user, then log in again"
}

case "$#:${1:-}" in
    0: | 1:--no-images) ;;
    1:-h | 1:--help)
        echo "$USAGE"
        exit
        ;;
    *) fail "there is no option '$*'" "$0 --help" ;;
esac
lock_machine
main "$@"
