// What needs no robot. PLAYER_HOSTNAME is used before main runs.
#include <libplayerc++/playerc++.h>
#include <replace.h>
#include <iostream>

std::string gHostname(PlayerCc::PLAYER_HOSTNAME);
uint32_t gPort(PlayerCc::PLAYER_PORTNUM);
uint32_t gDataMode(PLAYER_DATAMODE_PUSH);

using namespace PlayerCc;
using namespace std;

int main(int, char **) {
  cout << "host " << gHostname << " " << gPort << endl;
  cout << "angles " << dtor(180) - M_PI << " " << rtod(M_PI / 2) << " " << normalize(3 * M_PI / 2) << " " << RTOD(M_PI) << " " << DTOR(90) << endl;
  cout << "limit " << limit(5, 0, 3) << " " << limit(-2.0, -1.0, 1.0) << " " << min(1, 2) << " " << max(1.5, 2.5) << endl;
  player_pose2d_t pose = {1, 2, 3};
  struct player_pose3d pose3 = player_pose3d_t();
  player_point_2d_t point = {4, 5};
  player_color_t red = {255, 255, 0, 0};
  cout << "pose " << pose << " " << pose3 << " " << point << " " << (int)red.red << endl;
  return 0;
}
