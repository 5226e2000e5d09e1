#!/usr/bin/env bash
# Tries INSTALL, OPERATIONS and CLIENTS as they are written, on a clean Debian of this release: makes one
# with mmdebstrap in a temporary folder, installs there what packaging makes, and runs the commands
# of the pages (guest.sh). Then systemd runs there as process 1, and the service is upgraded from 1.0.0 and back.
#
#   packaging/clean.sh [DIR]    DIR has the results of packaging; without it they are built
#
# It needs root and some minutes. Packages of Debian are fetched as apt does it here; programs
# that are installed run in a network of its own. It changes nothing on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
results=${1:-}
if [ -z "$results" ]; then
  results=$work/results
  go run ./packaging -only amd64 -o "$results"
fi

# Things that the machine of a user has: a service manager, sudo, the pages of man, curl, names of its own.
# mmdebstrap asks the same servers as apt here, in the same way.
root=$work/root
apt-config dump | grep '^Acquire::\(http\|https\)' >"$work/apt.conf" || true
mmdebstrap --quiet --variant=apt --aptopt="$work/apt.conf" --include=systemd,sudo,man-db,curl,ca-certificates \
  "$(. /etc/os-release; echo "$VERSION_CODENAME")" "$root"
printf '127.0.0.1 localhost %s\n::1 localhost\n' "$(hostname)" >"$root/etc/hosts"
echo 'APT::Get::Assume-Yes "1";' >"$root/etc/apt/apt.conf.d/99yes" # as its user answers

mkdir "$root/root/docs"
cp docs/*.md "$root/root/docs/"
cp packaging/guest.sh "$root/root/"
cp clients/java/examples/Hello.java clients/tcl/examples/hello.tcl "$root/root/"
cp clients/playerc/programs/wander.cpp "$root/root/wander.cpp"
cp "$results"/* "$root/root/"

# guest PART [--net] runs a part of guest.sh there, and ends its processes. With --net it has a network
# of its own.
guest() {
  unshare --mount --pid --fork --kill-child ${2:-} sh -ec '
    mount -t proc proc "$1/proc"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
    if [ -n "$3" ]; then ip link set lo up; fi
    exec chroot "$1" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      bash /root/guest.sh "$2"' sh "$root" "$1" "${2:-}"
}
guest install
guest use --net
guest toolchains
guest clients
guest programs --net
guest remove

# systemd itself upgrades the package of version 1.0.0, unchanged. It is process 1 there, and has a cgroup of
# its own. It ends with the exit code of the part.
git clone -q --no-checkout . "$work/first"
git -C "$work/first" checkout -q "$(git log --format=%H --grep='^Version 1\.0\.0$' | tail -1)"
(cd "$work/first" && go run ./packaging -only amd64 -clients=false -version 1.0.0 -o "$root/root/old" >/dev/null)
cp packaging/board.py packaging/drive.py config/examples/arduino.cfg "$root/root/"
cat >"$root/etc/systemd/system/trial.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
Environment=HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive
ExecStart=/bin/bash /root/guest.sh service
ExecStopPost=/bin/sh -c 'systemctl exit $$EXIT_STATUS'
StandardOutput=file:/root/service.log
StandardError=inherit
UNIT
code=0
unshare --mount --pid --fork --kill-child --cgroup --uts --ipc --net sh -ec '
  mount --bind "$1" "$1"
  cd "$1"
  mount -t proc proc proc
  mount -t sysfs sysfs sys
  mount -t cgroup2 none sys/fs/cgroup
  mount -t tmpfs none run
  mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
  ip link set lo up
  exec env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . /lib/systemd/systemd --unit=trial.service' sh "$root" </dev/null || code=$?
cat "$root/root/service.log"
[ $code = 0 ] || exit $code
echo "the pages: tried on a clean system"
