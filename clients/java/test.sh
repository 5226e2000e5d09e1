#!/usr/bin/env bash
# Builds the library and the examples and runs all tests. The classes go to $BUILD, or to a directory that is removed.
set -euo pipefail
cd "$(dirname "$0")"
if [ -z "${BUILD:-}" ]; then
  BUILD=$(mktemp -d)
  trap 'rm -r "$BUILD"' EXIT
fi
# Machines that run for seconds: the second compiler and the parallel garbage collector would double what they take.
brief=(-XX:+UseSerialGC -XX:TieredStopAtLevel=1)
javac "${brief[@]/#/-J}" -Xlint:all -Werror -d "$BUILD" src/player/*.java examples/*.java adapter/*.java test/player/*.java
java "${brief[@]}" -ea -cp "$BUILD" player.Tests
# With the character set and the ends of lines of Windows, and a language in which I has no small i.
java "${brief[@]}" -Dfile.encoding=Cp1252 -Dline.separator=$'\r\n' -Duser.language=tr -ea -cp "$BUILD" player.Tests
