// SPDX-License-Identifier: Apache-2.0
//
// The common part of the examples: arguments [host [port [rounds]]], and the error at the end.
#ifndef PLAYER_ARGUMENTS_HPP
#define PLAYER_ARGUMENTS_HPP

#include "../player.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

struct Arguments {
  std::string host = "localhost";
  int port = PLAYER_PORT;
  int rounds = 1000;

  Arguments(int argc, char **argv) {
    if (argc > 1) host = argv[1];
    if (argc > 2) port = std::atoi(argv[2]);
    if (argc > 3) rounds = std::atoi(argv[3]);
  }
};

// Runs a program, and returns its exit code: 1 after an error, which it prints.
template <typename Program> int run(const char *name, Program program) {
  try {
    program();
    return 0;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s: %s\n", name, e.what());
    return 1;
  }
}

#endif
