// SPDX-License-Identifier: Apache-2.0
//
// Arguments of hello, the example of CRobot: [host [port [rounds]]]. Examples of player::Client have arguments.hpp.
#ifndef PLAYER_ARGUMENTS_H
#define PLAYER_ARGUMENTS_H

#include "../playerclient.h"

#include <cstdlib>

// Connects as the arguments say, requests devices, and returns for how many
// rounds the program runs. It ends the program on an error.
inline int start(CRobot &robot, int argc, char **argv, const char *pairs) {
  robot.timeout = std::chrono::seconds(30); // setting up a device can take some
  if (robot.Connect(argc > 1 ? argv[1] : "localhost", argc > 2 ? std::atoi(argv[2]) : PLAYER_PORT)) std::exit(1);
  // A program that hangs does not leave the robot driving: it stops a second after the last command.
  if (robot.Request(pairs) || robot.SetCommandLifetime(std::chrono::seconds(1))) {
    std::fprintf(stderr, "%s: %s\n", argv[0], robot.Error());
    std::exit(1);
  }
  return argc > 3 ? std::atoi(argv[3]) : 1000;
}

#endif
