#!/usr/bin/env bash
# Builds the packages of this machine twice and compares, then installs the package on this machine,
# starts what the unit starts, upgrades it while a client is connected, removes and
# purges it. It changes the machine, so it needs CI to be set, or the flag -here.
# With pipefail a command that is piped into "grep -q" fails when grep has seen enough before the command
# has written everything, so the tests below take the whole output first.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${CI:-}" ] && [ "${1:-}" != -here ]; then
  echo "this installs and purges the package player: CI is not set, add -here to do so"
  exit 2
fi

work=$(mktemp -d)
server=
installed() { dpkg-query -W -f '${db:Status-Status}' player 2>/dev/null | grep -qv not-installed; }
if installed; then echo "player is installed on this machine"; exit 1; fi
finish() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
  if installed; then dpkg --purge player >/dev/null || true; fi
  dpkg --purge player-fleet player-vision player-doc libplayer-dev libplayerc-dev >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }

# Two clones in different folders: what a build leaves behind does not get into the
# next one, and neither does what is not committed.
git clone -q --no-hardlinks . "$work/one"
git clone -q --no-hardlinks "$work/one" "$work/other/folder"
for clone in one other/folder; do
  (cd "$work/$clone" && go run ./packaging -only amd64 -o "$work/out-${clone%%/*}")
done
diff -r "$work/out-one" "$work/out-other" || fail "two builds differ"
(cd "$work/out-one" && sha256sum -c --quiet SHA256SUMS)
[ "$(find "$work/out-one" -name '*.deb' | wc -l)" = 6 ] && [ "$(find "$work/out-one" -name 'player*-linux-*.tar.gz' | wc -l)" = 3 ] || fail "packages are missing"
lintian --allow-root --fail-on error "$work"/out-one/*.deb

# What programs in C are built with is found without being told where it is.
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

old=$(find "$work/out-one" -name 'player_*_amd64.deb')
(cd "$work/one" && go run ./packaging -only amd64 -clients=false -version 999 -o "$work/new")
new=$work/new/player_999-1_amd64.deb

[ -z "$(dpkg-deb -c "$old" | awk '$1 ~ /^.....w/ || $1 ~ /^........w/ || $2 != "root/root"')" ] || fail "files that others may write"
dpkg -i "$old" >/dev/null
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

# The administrator's configuration survives the upgrade.
echo 'driver ( name "stage" world "room" )' >/etc/player/player.cfg
start
player -version
coproc client { python3 packaging/client.py 6665; }
client_process=$client_PID input=${client[1]}
read -r -t 60 first <&"${client[0]}" || fail "no data"
dpkg -i --force-confold "$new" >/dev/null
grep -q 'world "room"' /etc/player/player.cfg || fail "the upgrade has changed the configuration"
echo upgraded >&"$input"
read -r -t 60 second <&"${client[0]}" || fail "the client was lost while the package was upgraded"
echo "client: $first; after the upgrade: $second"
exec {input}>&- # the client ends
wait "$client_process" || fail "the client ended with an error"
stop
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
grep -q '^player 999 ' <<<"$(player -version)" || fail "not upgraded"
python3 packaging/client.py 6665 <<<once
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
echo "packages: reproducible, installed, upgraded, removed and purged"
