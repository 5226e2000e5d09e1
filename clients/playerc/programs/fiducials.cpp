// Turns to a marked thing that the fiducial finder sees, and drives up to it.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  FiducialProxy fp(&robot, 0);
  fp.RequestGeometry();
  cout << "before " << fp.GetCount() << " " << fp.GetFiducialItem(0).id << endl;
  robot.Read();
  player_fiducial_item_t first = fp.GetFiducialItem(0);
  cout << "first " << fp.GetCount() << " " << first.id << " " << first.pose.px << " " << first.pose.py << endl;
  for (int i = 0; i < 300; i++) {
    robot.Read();
    if (fp.GetCount() == 0) break;
    player_fiducial_item_t item = fp.GetFiducialItem(0);
    double bearing = atan2(item.pose.py, item.pose.px), range = hypot(item.pose.px, item.pose.py);
    if (range < 0.8) break;
    pp.SetSpeed(fabs(bearing) < 0.2 ? 0.3 : 0, 1.5 * bearing);
  }
  pp.SetSpeed(0, 0);
  for (int i = 0; i < 10; i++) robot.Read();
  player_fiducial_item_t last = fp.GetFiducialItem(0);
  cout << "last " << hypot(last.pose.px, last.pose.py) << " " << fp.GetFiducialItem(9).id << endl;
  return 0;
}
