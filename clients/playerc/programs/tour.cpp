// Drives from goal to goal around what is in the way, while it only reads. It is given
// for how many Reads, and the goals, in the frame where the robot starts. At a single goal
// it ends.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  int rounds = argc > 3 ? atoi(argv[3]) : 400, goals = argc > 5 ? (argc - 4) / 2 : 1, arrived = 0, stalls = 0, i = 0;
  double x = 0, y = 0;
  bool there = true;
  for (; i < rounds && !(goals == 1 && arrived == 1); i++) {
    if (there) {
      x = argc > 5 ? atof(argv[4 + 2 * (arrived % goals)]) : 4.6; // behind the post
      y = argc > 5 ? atof(argv[5 + 2 * (arrived % goals)]) : 1.3;
      pp.GoTo(x, y, 0);
    }
    robot.Read();
    stalls += pp.GetStall();
    there = hypot(pp.GetXPos() - x, pp.GetYPos() - y) < 0.06 && fabs(pp.GetYaw()) < 0.03;
    arrived += there;
  }
  cout << "arrived " << arrived << " " << stalls << endl << "odometry " << pp.GetXPos() << " " << pp.GetYPos() << " " << pp.GetYaw() << endl;
  cout << "arrived=" << (arrived > 0) << " time=" << i / 10.0 << endl;
  return 0;
}
