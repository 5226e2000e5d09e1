#!/usr/bin/env bash
# Makes a trial release from a clean clone, builds its packages of this machine a second time and compares. Then it
# installs the package of version 1.0.0 on this machine, starts what the unit starts, upgrades it while a program
# drives a robot, goes back to 1.0.0 and forth, removes and purges it. It changes the machine, so it needs CI to be set,
# or the flag -here. RELEASE is a folder that gets the files of the release, for others.
# With pipefail a command that is piped into "grep -q" fails when grep has seen enough before the command
# has written everything, so the tests below take the whole output first.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${CI:-}" ] && [ "${1:-}" != -here ]; then
  echo "this installs and purges the package player: CI is not set, add -here to do so"
  exit 2
fi

work=$(mktemp -d)
server= robot= driver=
installed() { dpkg-query -W -f '${db:Status-Status}' player 2>/dev/null | grep -qv not-installed; }
if installed; then echo "player is installed on this machine"; exit 1; fi
finish() {
  for process in $server $robot $driver; do kill "$process" 2>/dev/null || true; done
  if installed; then dpkg --purge player >/dev/null || true; fi
  dpkg --purge player-fleet player-vision player-doc libplayer-dev libplayerc-dev >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }

# The release of a clean clone with all that belongs to it. Whether the changelog has something to release depends on the
# commit, so the trial has a change of its own.
number=1.2.0
export GIT_AUTHOR_NAME=Trial GIT_AUTHOR_EMAIL=trial@localhost GIT_COMMITTER_NAME=Trial GIT_COMMITTER_EMAIL=trial@localhost
git clone -q --no-hardlinks --no-tags . "$work/one"
(
  cd "$work/one"
  grep -q '^## Unreleased$' CHANGELOG.md || sed -i '0,/^## /s//## Unreleased\n\n&/' CHANGELOG.md
  sed -i 's|^## Unreleased$|&\n\n- A trial ([INSTALL](docs/INSTALL.md)).|' CHANGELOG.md
  git commit -qam "Trial"
  ! NIGHTLY= CHECKED=1 packaging/release $number 2>"$work/refused" && grep -q 'NIGHTLY is the folder' "$work/refused" || fail "a release without nightly results"
  ! CHECKED=1 NIGHTLY=$work packaging/release $number 2>"$work/refused" && grep -q 'soak.json: no such file' "$work/refused" || fail "a release with missing nightly results"
  CHECKED=1 NIGHTLY=none packaging/release $number
)
files=$work/one/release-$number
wanted() {
  printf '%s\n' NOTES.md SHA256SUMS player-$number.spdx.json player-$number-{site,benchmarks}.tar.gz player-doc_$number-1_all.deb
  for arch in amd64 arm64 armhf i386; do printf '%s\n' player{,-fleet,-vision}_$number-1_$arch.deb; done
  for arch in amd64 arm64 armv6 armv7 i386 riscv64; do
    printf '%s\n' player{,-fleet,-vision}-$number-linux-$arch.tar.gz player-$number-image-$arch.tar
  done
  machine=$(dpkg --print-architecture)
  printf '%s\n' libplayer{,c}-dev_$number-1_$machine.deb libplayer{,c}-$number-linux-$machine.tar.gz \
    playerclient-$number{,-sources,-javadoc}.jar playerclient-$number.{pom,tgz,tar.gz} playerclient-$number-py3-none-any.whl player-tcl-$number.tar.gz
}
diff <(wanted | sort) <(ls "$files" | sort) || fail "the files of a release are others"
diff <(ls "$files" | grep -vx -e NOTES.md -e SHA256SUMS | LC_ALL=C sort) <(cut -c67- "$files/SHA256SUMS") || fail "SHA256SUMS has other files"
(cd "$files" && sha256sum -c --quiet SHA256SUMS)
grep -qx -e '- A trial (docs/INSTALL.md).' "$files/NOTES.md" || fail "the notes lack the change"
grep -q '^No nightly results' "$files/NOTES.md" || fail "the notes do not say that nightly results are missing"
[ "$(git -C "$work/one" log -3 --format=%s)" = "Version 1.3.0 begins
Version $number
Trial" ] && [ "$(git -C "$work/one" rev-parse "v$number^{commit}")" = "$(git -C "$work/one" rev-parse HEAD~1)" ] || fail "the commits and the tag"
[ "$(cat "$work/one/app/version.txt")" = 1.3.0 ] && grep -qx '## Unreleased' "$work/one/CHANGELOG.md" || fail "the next number has not begun"
[ -z "$(git -C "$work/one" status --porcelain --untracked-files=no)" ] || fail "the release leaves changes"
if [ -n "${RELEASE:-}" ]; then cp "$files"/* "$RELEASE"; fi

# Another clone in another folder: files that a build leaves behind do not get into the next one, and neither do files
# that are not committed.
git clone -q --no-hardlinks --branch "v$number" "$work/one" "$work/other/folder" 2>/dev/null
(cd "$work/other/folder" && go run ./packaging -only amd64 -o "$work/other/files")
! grep -vxFf "$files/SHA256SUMS" "$work/other/files/SHA256SUMS" || fail "two builds differ"
mkdir "$work/out-one"
ln -s "$files"/*_{amd64,all}.deb "$work/out-one"
lintian --allow-root --fail-on error "$work"/out-one/*.deb

# Programs in C find their libraries and headers without a path.
dpkg -i "$work"/out-one/libplayer-dev_*.deb >/dev/null
printf '#include <player.h>\nint main(void) { player_client *c = player_create(); return player_read(c, 0) != PLAYER_CLOSED; }\n' >"$work/hello.c"
cc -std=c99 -o "$work/hello" "$work/hello.c" $(pkg-config --cflags --libs player) && "$work/hello" || fail "a program of libplayer-dev"
dpkg -i "$work"/out-one/libplayerc-dev_*.deb >/dev/null
printf '#include <libplayerc++/playerc++.h>\nint main() { return PlayerCc::rtod(PlayerCc::dtor(90)) > 91; }\n' >"$work/hello.cpp"
c++ -o "$work/hello" "$work/hello.cpp" $(pkg-config --cflags --libs playerc++) && "$work/hello" || fail "a program of libplayerc-dev"
dpkg --purge libplayer-dev libplayerc-dev >/dev/null
[ ! -e /usr/include/player ] && [ ! -e /usr/include/libplayerc++ ] || fail "headers are left"

# The pages are where the package says, and find what they need.
dpkg -i "$work"/out-one/player-doc_*.deb >/dev/null
for name in index.html words.js docs/PROTOCOL.html reference/go/client.html reference/java/index.html; do
  [ -s "/usr/share/doc/player/html/$name" ] || fail "player-doc lacks $name"
done
dpkg --purge player-doc >/dev/null
[ ! -e /usr/share/doc/player/html ] || fail "pages are left"

# The package of version 1.0.0 as it was, which a commit, a version of Go and a kind of machine determine: a folder of the
# user's cache keeps it. A clone without its history gets one of this commit with that number.
first=$(git -C "$work/one" log --format=%H --grep='^Version 1\.0\.0$' | tail -1)
if [ -n "$first" ]; then
  git clone -q --no-checkout "$work/one" "$work/first"
  git -C "$work/first" checkout -q "$first"
else
  [ "$(git rev-parse --is-shallow-repository)" = true ] || fail "the history has no version 1.0.0"
  echo "this clone has no history: the package of 1.0.0 is one of this commit"
  git clone -q "$work/other/folder" "$work/first"
fi
kept=$work/kept
if [ -n "$first" ]; then kept=${XDG_CACHE_HOME:-$HOME/.cache}/player-tests/packages-$first-$(cd "$work/first" && go env GOVERSION); fi
old=$kept/player_1.0.0-1_amd64.deb
if [ ! -e "$old" ]; then
  (cd "$work/first" && go run ./packaging -only amd64 -clients=false -version 1.0.0 -o "$work/old")
  mkdir -p "$kept"
  cp "$work/old/${old##*/}" "$old.$$"
  mv "$old.$$" "$old" # whole, or not there
fi
new=$files/player_$number-1_amd64.deb

[ -z "$(dpkg-deb -c "$new" | awk '$1 ~ /^.....w/ || $1 ~ /^........w/ || $2 != "root/root"')" ] || fail "files that others may write"
dpkg -i "$new" >/dev/null
! grep -q INTERP <<<"$(readelf -l /usr/bin/player)" || fail "the binary is not static"
man -l --warnings=w "$(dpkg -L player | grep player.1.gz)" 2>&1 >/dev/null | grep . && fail "the manual page has mistakes"
unit=/usr/lib/systemd/system/player.service

# value NAME [UNIT] prints the unit's lines of that name.
value() { sed -n "s/^$1=//p" "${2:-$unit}"; }

# start starts what the unit starts, with its environment, and waits for READY. The check
# itself may run under nohup, which has SIGHUP ignored.
start() {
  python3 packaging/notified.py "$work/ready" env --default-signal=HUP $(value Environment) bash -c "exec $(value ExecStart)" 2>"$work/log" &
  server=$!
  for _ in $(seq 600); do
    if grep -qs READY=1 "$work/ready"; then return; fi
    kill -0 $server 2>/dev/null || break
    sleep 0.1
  done
  cat "$work/log"
  fail "the server is not ready"
}
stop() {
  kill "$server"
  wait "$server" || { cat "$work/log"; fail "the server ended with an error"; }
  server=
  grep -q STOPPING=1 "$work/ready" || fail "no STOPPING=1"
  rm "$work/ready"
}

# verified NAME checks a unit.
verified() {
  warnings=$(systemd-analyze verify --man=no "$1" 2>&1) && [ -z "$warnings" ] || fail "unit: $warnings"
  systemd-analyze security --offline=true --threshold=30 "$1" >"$work/security" || { cat "$work/security"; fail "the score of $1 is above 3"; }
  tail -1 "$work/security"
}
verified $unit

# The server knows the plugin of the package, and its example, which a test runs from a clone.
dpkg -i "$work"/out-one/player-vision_*.deb >/dev/null
/usr/lib/player/vision -h >/dev/null 2>&1 || fail "vision -h"
sed -e 's|plugin "vision"|plugin "/usr/lib/player/vision"|' -e 's|visitors/vision/colors.cfg|/usr/share/doc/player-vision/colors.cfg|' \
  /usr/share/doc/player-vision/vision.cfg >/etc/player/player.cfg
check=$(player check /etc/player/player.cfg) || fail "the configuration with vision: $check"
grep -q 'vision:0 *vision' <<<"$check" || fail "the configuration with vision: $check"
dpkg --purge player-vision >/dev/null
[ ! -e /usr/lib/player ] || fail "files of player-vision are left"

dpkg --purge player >/dev/null

# prints NAME TEXT waits for a line that the program with this output prints next.
declare -A seen=()
prints() {
  local at
  for _ in $(seq 600); do
    at=$(awk -v from="${seen[$1]:-0}" -v text="$2" 'NR > from && $0 ~ text {print NR; exit}' "$work/$1")
    if [ -n "$at" ]; then seen[$1]=$at; return; fi
    sleep 0.1
  done
  tail -n 20 "$work"/{robot,driver,log}
  fail "$1 does not print $2"
}

# replaced PACKAGE VERSION installs another version while a program drives, and restarts the server as the unit is
# restarted. The old server stops the robot, the new one has the administrator's configuration, and the program connects
# again and drives on.
replaced() {
  dpkg -i --force-confold "$1" >/dev/null 2>&1 || fail "dpkg -i $1"
  tail -n1 "$work/robot" | grep '^100 100' >/dev/null || fail "the robot does not drive when the package is there"
  seen[robot]=$(wc -l <"$work/robot")
  stop
  prints robot '^0 0'
  ! grep 'of its own' "$work/robot" || fail "the server has left it to the board to stop the robot"
  prints driver '^lost: '
  cmp "$work/player.cfg" /etc/player/player.cfg || fail "the configuration is another one"
  grep -q "^player $2 " <<<"$(player -version)" || fail "$(player -version) is not $2"
  start
  prints driver '^drives'
}

python3 packaging/board.py >"$work/robot" &
robot=$!
prints robot '^/dev/'
dpkg -i "$old" >/dev/null
sed "s|/dev/ttyACM0|$(head -1 "$work/robot")|" config/examples/arduino.cfg | tee "$work/player.cfg" >/etc/player/player.cfg
start
mkfifo "$work/input"
PYTHONPATH=clients/python python3 packaging/drive.py 6665 <"$work/input" >"$work/driver" &
driver=$!
exec {input}>"$work/input"
prints driver '^drives'
replaced "$new" $number
replaced "$old" 1.0.0
replaced "$new" $number
seen[robot]=$(wc -l <"$work/robot")
echo >&$input # the program ends
wait $driver || fail "the program that drives ended with an error"
driver=
prints robot '^0 0'
cat "$work/robot"
stop
kill $robot
wait $robot || true
robot=

echo 'driver ( name "stage" world "room" )' >/etc/player/player.cfg
start

# A reload as the unit does it: a file with mistakes is refused.
mainpid=$server
reload() { sed -n 's/^ExecReload=//p' $unit | sed 's/\$\$/$/g' | MAINPID=$mainpid PLAYER_FLAGS= bash -e; }
echo 'driver ( name "stag" )' >/etc/player/player.cfg
! reload 2>"$work/mistakes" || fail "a file with mistakes is taken"
grep -q 'did you mean "stage"' "$work/mistakes" || fail "the mistake is not reported"
echo 'driver ( name "stage" world "cave" )' >/etc/player/player.cfg
reload
for _ in $(seq 600); do
  [ "$(grep -c READY=1 "$work/ready")" = 2 ] && break
  sleep 0.1
done
grep -q RELOADING=1 "$work/ready" && [ "$(grep -c READY=1 "$work/ready")" = 2 ] || fail "not reloaded"
player print localhost sr -n 1
stop

# The program of fleets joins the robot of the server, as its unit starts it, in a folder of its own.
dpkg -i "$work"/out-one/player-fleet_*.deb >/dev/null
fleet_unit=/usr/lib/systemd/system/player-fleet.service
verified $fleet_unit
[[ "$(basename "$work"/out-one/player-fleet_*.deb)" == *"_$(player-fleet -version | cut -d' ' -f2)-1_"* ]] || fail "player-fleet -version"
start
FLEET_FLAGS="-listen 127.0.0.1:0 -http 127.0.0.1:9799" XDG_STATE_HOME=$work/state bash -c "exec $(value ExecStart $fleet_unit)" 2>"$work/fleet.log" &
fleet=$!
for _ in $(seq 600); do
  if python3 -c 'import urllib.request as r; r.urlopen("http://127.0.0.1:9799/healthz", timeout=5)' 2>/dev/null; then healthy=yes; break; fi
  sleep 0.1
done
kill $fleet
wait $fleet && [ "${healthy:-}" = yes ] && [ -e "$work/state/player/nats.token" ] || { cat "$work/fleet.log"; fail "player-fleet"; }
stop
dpkg --purge player-fleet >/dev/null
[ ! -e $fleet_unit ] && [ ! -e /etc/player/fleet.robots ] && [ ! -e /usr/share/doc/player-fleet ] || fail "files of player-fleet are left"

dpkg --remove player >/dev/null
[ ! -e /usr/bin/player ] && [ -e /etc/player/player.cfg ] || fail "remove"
dpkg --purge player >/dev/null
for path in /etc/player /etc/avahi/services/player.service $unit /usr/share/player /usr/share/doc/player; do
  [ ! -e $path ] || fail "$path is left"
done
# A processor of 64 bits runs the package for i386, natively: it drives an emulated Pioneer.
if [ "$(uname -m)" = x86_64 ]; then
  dpkg -i --force-architecture "$files/player_$number-1_i386.deb" >/dev/null 2>&1 || fail "dpkg -i player_$number-1_i386.deb"
  grep -q 'Class: *ELF32' <<<"$(readelf -h /usr/bin/player)" || fail "the binary for i386 is another one"
  grep -q "^player $number " <<<"$(player -version)" || fail "player -version of i386"
  go build -o "$work/emulator" ./simulation/emulator
  "$work/emulator" -only p2os -motors -dir "$work/pioneer" </dev/null >"$work/robot" &
  robot=$!
  seen=()
  prints robot '^The robot is ready'
  echo "driver ( name \"p2os\" provides [\"position:0\"] port \"$work/pioneer/p2os\" )" >/etc/player/player.cfg
  start
  # The end of the program before is still in the old pipe, which processes in the background hold open.
  exec {input}>&-
  rm "$work/input"
  mkfifo "$work/input"
  PYTHONPATH=clients/python python3 packaging/drive.py 6665 <"$work/input" >"$work/driver" &
  driver=$!
  exec {input}>"$work/input"
  prints driver '^drives'
  echo >&$input
  wait $driver || fail "the program that drives by i386 ended with an error"
  driver=
  stop
  kill $robot
  wait $robot || true
  robot=
  dpkg --purge player >/dev/null
fi
echo "packages: released, reproducible, installed, upgraded, rolled back, removed and purged; the one for i386 drives"
