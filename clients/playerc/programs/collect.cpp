// Fetches a puck: drives until a beam is broken, closes the paddles, carries it away.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  GripperProxy gp(&robot, 0);
  SimulationProxy sim(&robot, 0);
  double x, y, a;

  gp.RequestGeometry();
  gp.Open();
  for (int i = 0; i < 200; i++) {
    robot.Read();
    if (gp.GetState() == PLAYER_GRIPPER_STATE_OPEN) break;
  }
  cout << "open " << (gp.GetState() == PLAYER_GRIPPER_STATE_OPEN) << endl;
  for (int i = 0; i < 300 && gp.GetBeams() == 0; i++) {
    pp.SetSpeed(0.1, 0);
    robot.Read();
  }
  for (int i = 0; i < 5; i++) robot.Read(); // a little deeper
  pp.SetSpeed(0, 0);
  gp.Close();
  for (int i = 0; i < 30; i++) robot.Read();
  cout << "closed " << (gp.GetState() == PLAYER_GRIPPER_STATE_CLOSED) << " " << (gp.GetBeams() != 0) << endl;
  sim.GetPose2d((char *)"puck", x, y, a);
  cout << "before " << x << " " << y << endl;
  for (int i = 0; i < 50; i++) {
    pp.SetSpeed(-0.2, 0);
    robot.Read();
  }
  pp.SetSpeed(0, 0);
  for (int i = 0; i < 10; i++) robot.Read();
  sim.GetPose2d((char *)"puck", x, y, a);
  cout << "after " << x << " " << y << endl;
  return 0;
}
