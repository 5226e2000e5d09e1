// Asks where things are, and puts them elsewhere, also out of the way.
#include <libplayerc++/playerc++.h>
#include <iostream>
#include <locale.h>
#include <stdio.h>
using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
  setlocale(LC_ALL, ""); // as programs with windows do
  PlayerClient robot(argv[1], atoi(argv[2]));
  SimulationProxy sim(&robot, 0);
  Position2dProxy pp(&robot, 0);
  double x, y, yaw;
  char name[20] = "r0";
  for (int round = 0; round < 3; round++) {
    robot.Read();
    sim.GetPose2d(name, x, y, yaw);
  }
  cout << "robot " << x << " " << y << " " << yaw << endl;
  sim.GetPose2d("r1", x, y, yaw);
  cout << "other " << x << " " << y << " " << yaw << endl;
  sim.SetPose2d((char *)"r0", -1, 1.5, -M_PI / 2);
  sim.GetPose2d((char *)"r0", x, y, yaw);
  cout << "moved " << x << " " << y << " " << yaw << endl;
  char item[20];
  sprintf(item, "puck");
  sim.SetPose2d(item, -100, -100, 0);
  sim.GetPose2d(item, x, y, yaw);
  cout << "taken " << x << " " << y << endl;
  try {
    sim.GetPose2d("nobody", x, y, yaw);
  } catch (PlayerError e) {
    cout << "unknown " << e.GetErrorStr() << endl;
  }
  float color[4] = {1, 0, 0, 1};
  try {
    sim.SetProperty(name, (char *)"color", color, sizeof color);
  } catch (PlayerError &e) {
    cout << "property " << e << endl;
  }
  return 0;
}
