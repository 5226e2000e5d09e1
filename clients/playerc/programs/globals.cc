// Has its clients and proxies as globals, which are made before main, and two clients of
// one robot. It includes nothing else and is C++98. The test compiles it by itself, with
// the libraries that build lines of Player 2 name.
#include "player-2.1/libplayerc++/playerc++.h"

using namespace std;
using namespace PlayerCc;

string host(getenv("ROBOT_HOST"));
uint port = atoi(getenv("ROBOT_PORT"));
PlayerClient robot(host, port);
PlayerClient eye(host, port);
Position2dProxy pp(&robot, 0);
BlobfinderProxy bf(&eye, 0);
SimulationProxy sim(&robot, 0);

int main() {
  double move = 0, data = 0, distance = 0;
  vector<double> list;
  robot.SetDataMode(PLAYER_DATAMODE_PUSH);
  pp.SetMotorEnable(TRUE);
  for (uint i = 0; i < 30; i++) {
    robot.Read();
    eye.Read();
    pp.SetSpeed(0.2, 0);
    list.push_back(pp.GetXPos());
  }
  cout << "push " << list.back() << " " << bf.GetCount() << endl;
  pp.SetSpeed(0, 0);
  for (int i = 0; i < 10; i++) {
    robot.Read();
    eye.Read();
  }
  double before = pp.GetYaw();
  for (int i = 0; i < 100; i++) {
    pp.SetSpeed(0, 0.001);
    robot.Read();
    eye.Read();
  }
  cout << "slow " << fabs(pp.GetYaw() - before) << endl;
  sim.SetPose2d("puck", -1, -2, 0);
  sim.GetPose2d("puck", move, data, distance);
  cout << "moved " << move << " " << data << " " << distance << endl;
  return 0;
}
