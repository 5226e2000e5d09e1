// SPDX-License-Identifier: Apache-2.0
//
// A program that has names of its own beside those of libplayerc++: nothing but what
// programs use is in namespace PlayerCc. The test compiles it in old and new C++.
#include <libplayerc++/playerc++.h>

using namespace std;
using namespace PlayerCc;

struct Core {};
struct Device {};
struct Slot {};
struct World {};
struct Client {};
typedef double reading;
enum mode { CONTINUOUS, DIRECTWHEELVELOCITY, Two, All, Create };
static const double PI = 3.14159;

int main(int argc, char **argv) {
  Core core;
  Device device;
  Slot slot;
  World world;
  Client mine;
  (void)core, (void)device, (void)slot, (void)world, (void)mine;
  PlayerClient client(argc > 1 ? argv[1] : "localhost");
  Position2dProxy pp(&client);
  double speed = min(0.2, max(0.1, limit(PI, 0.0, 1.0)));
  pp.SetSpeed(speed, 0);
  return CONTINUOUS;
}
