// Moves the camera and waits until it is there.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  PtzProxy ptz(&robot, 0);
  ptz.SelectControlMode(PLAYER_PTZ_POSITION_CONTROL);
  ptz.SetCam(dtor(45), dtor(-10), 0.3);
  for (int i = 0; i < 60; i++) robot.Read();
  std::cout << "ptz " << ptz.GetPan() << " " << ptz.GetTilt() << " " << ptz.GetZoom() << " " << ptz.GetStatus() << std::endl;
  ptz.SetCam(0, 0, 0);
  for (int i = 0; i < 60; i++) robot.Read();
  std::cout << "back " << ptz.GetPan() << " " << ptz.GetTilt() << " " << ptz.GetZoom() << std::endl;
  return 0;
}
