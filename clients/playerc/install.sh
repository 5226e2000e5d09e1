#!/usr/bin/env bash
# Builds the libraries and installs them, with headers, pkg-config and CMake files:
#
#   sudo clients/playerc/install.sh [PREFIX]
#
# PREFIX is by default /usr/local, and may be moved afterwards. CC, CFLAGS, CXX and CXXFLAGS are the compilers and
# their options, LDFLAGS those for linking the library of the Python modules.
set -euo pipefail
mkdir -p "${1:-/usr/local}"
prefix=$(cd "${1:-/usr/local}" && pwd)
cd "$(dirname "$0")"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

# shellcheck disable=SC2086 # flags are words
${CC:-cc} -std=c99 ${CFLAGS:--O2} -fPIC -c -o "$build/player.o" ../c/player.c &
jobs=($!)
for source in src/*.cpp; do
  # shellcheck disable=SC2086 # CXXFLAGS are words
  ${CXX:-c++} -std=c++17 ${CXXFLAGS:--O2} -fPIC -Iinclude -I../cpp -I../c -c -o "$build/$(basename "$source" .cpp).o" "$source" &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
mkdir -p "$prefix"/include/playerc "$prefix"/lib/{playerc/python,pkgconfig,cmake/playerc,cmake/playerc++} "$prefix"/share/cmake/Modules
rm -f "$prefix"/lib/libplayerc++.a
ar rcsD "$prefix/lib/libplayerc++.a" "$build"/*.o
# All is in libplayerc++. libplayerc is a script for the linker: a C compiler does not
# link with the libraries of C++ by itself. Build lines also name the others.
rm -f "$prefix/lib/libplayerc.a"
echo "INPUT(-lplayerc++ -lstdc++ -lm -lpthread)" >"$prefix/lib/libplayerc.a"
for name in playerinterface playercommon playerwkb; do
  rm -f "$prefix/lib/lib$name.a"
  ar rcsD "$prefix/lib/lib$name.a"
done
# Python programs find the modules with PYTHONPATH.
# shellcheck disable=SC2086 # LDFLAGS are words
${CXX:-c++} -shared ${LDFLAGS:-} -o "$prefix/lib/playerc/python/_playerc.so" "$build"/*.o -pthread
cp python/*.py "$prefix/lib/playerc/python"
cp -R include/libplayerc include/libplayerc++ "$prefix/include"
cp include/replace.h "$prefix/include/playerc"
# Some programs name the folder of the version that they were written for.
for version in 2.0 2.1 3.0 3.1; do
  mkdir -p "$prefix/include/player-$version"
  ln -sfn ../libplayerc ../libplayerc++ "$prefix/include/player-$version"
done
cp playerc.pc playerc++.pc "$prefix/lib/pkgconfig"
cp cmake/playerc++-config.cmake "$prefix/lib/cmake/playerc++"
cp cmake/playerc-config.cmake "$prefix/lib/cmake/playerc"
cp cmake/UsePlayerC*.cmake "$prefix/share/cmake/Modules"
