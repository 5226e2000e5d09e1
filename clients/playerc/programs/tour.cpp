// Drives from goal to goal around what is in the way, while it only reads. It is given
// for how many Reads, and the goals, in the frame where the robot starts.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  int rounds = argc > 3 ? atoi(argv[3]) : 400, goals = argc > 5 ? (argc - 4) / 2 : 1, arrived = 0, stalls = 0;
  double x = 4.6, y = 1.3; // behind the post
  for (int i = 0, since = 0; i < rounds; i++, since++) {
    if (since == 0) {
      if (argc > 5) {
        x = atof(argv[4 + 2 * (arrived % goals)]);
        y = atof(argv[5 + 2 * (arrived % goals)]);
      }
      pp.GoTo(x, y, 0);
    }
    robot.Read();
    stalls += pp.GetStall();
    if (hypot(pp.GetXPos() - x, pp.GetYPos() - y) < 0.06 && fabs(pp.GetYaw()) < 0.03 && (argc > 5 || arrived == 0)) {
      arrived++;
      if (argc > 5) since = -1;
    }
  }
  cout << "arrived " << arrived << " " << stalls << endl << "odometry " << pp.GetXPos() << " " << pp.GetYPos() << " " << pp.GetYaw() << endl;
  return 0;
}
