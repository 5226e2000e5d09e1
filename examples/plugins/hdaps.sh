#!/bin/sh
# HDAPS as a joystick: tilt the laptop. The argument is the sysfs directory.
read_xy() { tr -d '()' <"$1/$2" | tr , ' '; }
axis() { # (now - rest) * 218, as two bytes
  n=$((($1 - $2) * 218))
  [ $n -gt 32767 ] && n=32767
  [ $n -lt -32767 ] && n=-32767
  printf "\\$(printf %o $((n >> 8 & 255)))\\$(printf %o $((n & 255)))"
}
set -e
rest=$(read_xy "$1" calibrate)
while now=$(read_xy "$1" position); do
  if [ "$now" != "$last" ]; then
    set -- "$1" $now $rest
    printf 'j\0\024\0\0\0\0'; axis $2 $4; axis $3 $5; printf '\0\0\0\0\0\0\0\0\0\0\0\0'
  fi
  last=$now
  sleep 0.05
done
