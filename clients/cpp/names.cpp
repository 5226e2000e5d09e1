// SPDX-License-Identifier: Apache-2.0
//
// A program whose own names are those of the manual. test.sh compiles it with the
// headers in one directory, as an installation has them.
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
