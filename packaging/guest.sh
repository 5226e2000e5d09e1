#!/usr/bin/env bash
# The parts of clean.sh that run on the clean system: guest.sh PART.
set -euo pipefail
cd /root
fail() { echo "FAILED: $*"; exit 1; }

deb=$(echo player_*_amd64.deb) deb=${deb#player_} deb=${deb%_amd64.deb}

# as_written PAGE BEGIN [ARGUMENT...] runs the one command of a page that begins so, on the files that are
# here, with arguments behind it.
as_written() {
  local line
  line=$(sed -E 's/^ +//; s/  +#.*//' "docs/$1.md" | awk -v begin="$2" 'index($0, begin) == 1' | sort -u)
  [ -n "$line" ] && [ "$(wc -l <<<"$line")" = 1 ] || fail "$1 has not one command that begins with $2: $line"
  line=$(sed -E "s/_VERSION_[a-z0-9]+\.deb/_${deb}_amd64.deb/
    s/player-tcl-VERSION/$(basename player-tcl-*.tar.gz .tar.gz)/g
    s/playerclient-VERSION-py3/$(basename playerclient-*-py3-none-any.whl -py3-none-any.whl)-py3/
    s/playerclient-VERSION.tgz/$(basename playerclient-*.tgz)/
    s/playerclient-VERSION.jar/$(ls playerclient-*.jar | grep -v -e sources -e javadoc)/
    s/VERSION/${deb%-1}/" <<<"$line")
  echo "$1: $line ${*:3}"
  eval "$line ${*:3}"
}

# answers waits until a command succeeds.
answers() {
  for _ in $(seq 300); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  "$@" || fail "$*"
}

running=() # processes that were started

# starts UNIT runs the programs of a unit, with its environment; an administrator's additions are behind.
starts() {
  local unit=/usr/lib/systemd/system/$1.service
  env $(sed -n 's/^Environment=//p' $unit | sed 's|%S|/var/lib|') "${@:2}" bash -c "exec $(sed -n 's/^ExecStart=//p' $unit)" 2>"$1.log" &
  running+=($!)
}

# ends ends what was started, and fails unless it ended well.
ends() {
  kill "${running[@]}"
  for program in "${running[@]}"; do wait "$program" || { tail -n 20 ./*.log; fail "a service ended with an error"; }; done
  running=()
}

case $1 in
install)
  as_written INSTALL 'sudo apt install ./player_' # the one of OPERATIONS is the same
  as_written INSTALL 'sudo apt install ./player-fleet_'
  ;;
use)
  for path in /etc/player/player.cfg /etc/avahi/services/player.service /usr/lib/udev/rules.d/60-player.rules /usr/share/doc/player; do
    grep -qF "$path" docs/INSTALL.md && [ -e $path ] || fail "$path"
  done
  man player | grep NAME >/dev/null || fail "man player"
  [ "$(systemctl --root=/ is-enabled player)" = enabled ] || fail "the service is not enabled"
  [ "$(systemctl --root=/ is-enabled player-fleet)" = disabled ] || fail "the service of the fleet is enabled"
  for unit in player player-fleet; do
    warnings=$(systemd-analyze verify --man=no /usr/lib/systemd/system/$unit.service 2>&1) && [ -z "$warnings" ] || fail "$unit: $warnings"
    systemd-analyze security --offline=true --threshold=30 /usr/lib/systemd/system/$unit.service | tail -1
  done
  sha256sum -c --quiet --ignore-missing SHA256SUMS # as OPERATIONS says
  as_written OPERATIONS 'player -version'
  # OPERATIONS on the package's configuration, without hardware.
  starts player PLAYER_FLAGS='-http 0.0.0.0:8080'
  answers player status localhost
  as_written OPERATIONS 'player status localhost'
  as_written OPERATIONS 'curl -fsS http://localhost:8080/healthz'
  player check /etc/player/player.cfg 2>&1 | grep 'is the adapter plugged in' || fail "player check"
  (as_written INSTALL 'sudo player find > found.cfg') 2>found.log && fail "something was found"
  grep 'has no serial port' found.log || fail "player find"
  ends
  # A robot, and a fleet that joins it.
  echo 'driver ( name "stage" world "room" )' >/etc/player/player.cfg
  starts player PLAYER_FLAGS='-http 0.0.0.0:8080'
  answers player print localhost pr -n 1
  starts player-fleet FLEET_FLAGS='-http 127.0.0.1:8090'
  answers curl -fsS http://localhost:8090/healthz
  as_written OPERATIONS 'curl -fsS http://localhost:8090/healthz'
  as_written OPERATIONS 'curl -s http://localhost:8090/metrics' | wc -l
  [ -n "$(as_written INSTALL 'sudo cat /var/lib/player-fleet' | tail -n +2)" ] || fail "no token"
  ends
  # The archives.
  for name in player player-fleet; do
    tar xf $name-${deb%-1}-linux-amd64.tar.gz
    $name-${deb%-1}-linux-amd64/$name -version
  done
  ;;
toolchains) # those that the table of languages in CLIENTS has, and for TLS
  apt-get update -qq
  apt-get install -qq $(sed -n '/^<!-- languages -->/,/^<!-- end -->/s/.*`[^|]* | \(.*\) |$/\1/p' docs/CLIENTS.md) \
    pkg-config libssl-dev python3-venv npm >/dev/null
  ;;
clients)
  as_written CLIENTS 'sudo apt install ./libplayer-dev'
  cat >hello.c <<'C'
#include <player.h>
#include <stdio.h>
#include <stdlib.h>
int main(int n, char **arguments) {
  player_client *robot = player_create();
  if (n < 3 || player_connect(robot, arguments[1], atoi(arguments[2]), 20000) || player_request(robot, "sr", 20000) || player_read(robot, 20000))
    return printf("%s\n", player_error(robot)), 1;
  return printf("%d\n", player_get_sonar(robot)[0]) < 0;
}
C
  as_written CLIENTS 'cc -o hello'
  cp hello.c safe.c
  as_written CLIENTS 'cc -o safe'
  as_written CLIENTS 'sudo apt install ./libplayerc-dev'
  as_written CLIENTS 'c++ -o wander'
  as_written CLIENTS 'python3 -m venv env'
  as_written CLIENTS 'env/bin/pip install'
  as_written CLIENTS 'env/bin/python -c'
  as_written CLIENTS 'npm install'
  as_written CLIENTS 'node -e'
  as_written CLIENTS 'javac'
  as_written CLIENTS 'tar xf player-tcl'
  ;;
programs)
  starts player PLAYER_FLAGS='-http off'
  answers player print localhost pr -n 1
  echo 'import sys, playerclient
with playerclient.PlayerClient("localhost", 6665) as robot:
    robot.request("sr")
    robot.read()
    print(robot.sonar)' >hello.py
  for program in ./hello ./safe "env/bin/python hello.py"; do
    $program localhost 6665 2 | tail -1 | grep '[0-9]' || fail "$program"
  done
  as_written CLIENTS 'java -cp' localhost 6665 2 | tail -1 | grep '[0-9]' || fail "Java"
  as_written CLIENTS 'TCLLIBPATH=' localhost 6665 2 | tail -1 | grep '[0-9]' || fail "Tcl"
  ends
  ;;
service) # with systemd as process 1, which starts this as a unit
  # state prints the unit's state and the status that the server gives.
  state() { systemctl show player --property=ActiveState,SubState,Result,NRestarts,StatusText --value | paste -sd' '; }
  # prints FILE TEXT waits for a line behind the ones that were waited for.
  declare -A seen=()
  prints() {
    local at
    for _ in $(seq 600); do
      at=$(awk -v from="${seen[$1]:-0}" -v text="$2" 'NR > from && $0 ~ text {print NR; exit}' "$1")
      if [ -n "$at" ]; then seen[$1]=$at; return; fi
      sleep 0.1
    done
    tail -n 20 robot driver
    journalctl -u player --no-pager | tail -n 30
    fail "$1 does not print $2"
  }
  # replaced PACKAGE VERSION installs another version while a program drives. The package restarts the service: the old
  # server stops the robot, and the program goes on with the new one.
  replaced() {
    dpkg -i --force-confold "$1" >/dev/null || fail "dpkg -i $1"
    prints driver '^lost: '
    prints driver '^drives'
    grep -q "^player $2 " <<<"$(player -version)" || fail "$(player -version) is not $2"
    [ "$(systemctl is-active player)" = active ] || fail "after the upgrade: $(state)"
    echo "$2 drives: $(state)"
  }
  env/bin/python board.py >robot &
  board=$!
  prints robot '^/dev/'
  terminal=$(head -1 robot)
  chmod 666 "$terminal" # its group is tty
  mkdir -p /etc/systemd/system/player.service.d
  printf '[Service]\nDeviceAllow=char-pts rw\n' >/etc/systemd/system/player.service.d/terminal.conf
  mkdir -p /etc/player
  zcat -f arduino.cfg | sed "s|/dev/ttyACM0|$terminal|" >/etc/player/player.cfg
  dpkg -i --force-confold old/player_1.0.0-1_amd64.deb >/dev/null || fail "dpkg -i of 1.0.0"
  [ "$(systemctl is-active player)" = active ] || { journalctl -u player --no-pager | tail -n 30; fail "after the installation: $(state)"; }
  mkfifo input
  env/bin/python drive.py 6665 <input >driver &
  driver=$!
  exec {input}>input
  prints driver '^drives'
  replaced "player_${deb}_amd64.deb" "${deb%-1}"
  replaced old/player_1.0.0-1_amd64.deb 1.0.0
  replaced "player_${deb}_amd64.deb" "${deb%-1}"
  [ "$(grep -c '^0 0,' robot)" -ge 3 ] && ! grep 'of its own' robot || { cat robot; fail "a server has not stopped the robot itself"; }
  # A server that is killed: its guard stops the robot, systemd starts another one.
  systemctl kill --signal=KILL --kill-whom=main player
  prints driver '^lost: '
  prints driver '^drives'
  [ "$(systemctl show player --property=NRestarts --value)" = 1 ] || fail "after the death: $(state)"
  echo "killed and restarted: $(state)"
  echo >&$input
  wait $driver || fail "the program that drives ended with an error"
  # A file with mistakes is refused, and the service goes on.
  cp /etc/player/player.cfg good.cfg
  echo 'driver ( name "stag" )' >/etc/player/player.cfg
  ! systemctl reload player 2>/dev/null || fail "a file with mistakes is taken"
  cp good.cfg /etc/player/player.cfg
  systemctl reload player && [ "$(systemctl is-active player)" = active ] ||
    { journalctl -u player --no-pager | tail -n 30; fail "after the reload: $(state)"; }
  systemctl stop player
  [ "$(systemctl show player --property=Result --value)" = success ] || fail "after the stop: $(state)"
  kill $board
  rm -r /etc/systemd/system/player.service.d
  dpkg --purge player >/dev/null
  ! systemctl is-enabled player 2>/dev/null || fail "the service is enabled without its package"
  [ "$(systemctl show player --property=LoadState --value)" = not-found ] || fail "the unit is left"
  ;;
remove)
  apt-get purge -qq player player-fleet libplayer-dev libplayerc-dev >/dev/null
  for path in /usr/bin/player /usr/bin/player-fleet /usr/share/doc/player /usr/include/player /etc/avahi/services/player.service; do
    [ ! -e $path ] || fail "$path is left"
  done
  ;;
esac
