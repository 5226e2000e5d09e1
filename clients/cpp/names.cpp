// SPDX-License-Identifier: Apache-2.0
//
// A program that has names of the manual for its own things. test.sh compiles it with the
// headers in one directory, like an installation.
#include "player.hpp"

struct CBlob {};
enum mode { CONTINUOUS, GRIPopen };

int main() {
  CBlob blob;
  (void)blob;
  player::CRobot robot;
  robot.Close();
  return CONTINUOUS;
}
