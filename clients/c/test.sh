#!/usr/bin/env bash
# Builds everything in this folder with warnings as errors, and runs the tests
# with sanitizers. The programs go to $BUILD, by default a directory that is
# removed at the end.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
# Each example is a program.
awk -v to="$BUILD/readme" '/^```/ { n += on = /^```c$/; next } on { print >(to n ".c") }' README.md
library player -O2
link=("$BUILD/player.o" -lm)
here=$PWD
cd "$BUILD" # a cache of compilers knows a source by its path
for n in 1 2 3; do program readme$n readme$n.c cc -std=c99 "${strict[@]}" -I"$here"; done
cd "$here"
# No order of headers and no macro matters, in C as in C++.
for standard in c99 c17 gnu17; do
  for before in stdio.h unistd.h netdb.h; do
    printf '#include <%s>\n#include "player.h"\n#include "player_simulation.h"\n#include "player_struct.h"\nint main(void) { return 0; }\n' $before >"$BUILD/order.c"
    cc -std=$standard -pedantic-errors "${strict[@]}" -I. -fsyntax-only "$BUILD/order.c"
  done
  cc -std=$standard -pedantic-errors "${strict[@]}" -fsyntax-only player.c
done
if [ -n "$tls" ]; then cc -std=c99 -pedantic-errors "${strict[@]}" -fsyntax-only player_tls.c; fi
for source in examples/*.c; do
  program "$(basename "$source" .c)" "$source" cc -std=c99 -O2 "${strict[@]}"
done
cc -std=c99 "${strict[@]}" -DPLAYER_OPAQUE -fsyntax-only examples/*.c # they use the calls alone
checked c99 player.c adapter.c examples/*.c
if [ -n "$tls" ]; then checked c99 player_tls.c; fi
link=()
program test test.c cc -std=c99 "${strict[@]}" "${sanitize[@]}"
"$BUILD/test"
if command -v musl-gcc >/dev/null; then # the C library of Alpine Linux and of small robots
  musl-gcc -std=c99 "${strict[@]}" -o "$BUILD/test-musl" test.c
  "$BUILD/test-musl"
elif [ -n "${CI:-}" ]; then
  echo "install musl-tools" >&2
  exit 1
fi
echo "clients/c: ok"
