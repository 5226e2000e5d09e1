// Looks for the red post, drives to it and stops before it.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  BlobfinderProxy bfp(&robot, 0);
  SonarProxy sp(&robot, 0);
  pp.SetMotorEnable(1);
  for (int i = 0; i < 600; i++) {
    robot.Read();
    double newspeed = 0, newturnrate = dtor(20);
    for (uint n = 0; n < bfp.GetCount(); n++) {
      playerc_blobfinder_blob_t blob = bfp.GetBlob(n);
      if (blob.color != 0xff0000) continue;
      newturnrate = ((int)bfp.GetWidth() / 2 - (int)blob.x) * 0.01;
      newspeed = 0.2;
    }
    if (newspeed > 0 && (sp[3] < 0.5 || sp[4] < 0.5)) break;
    pp.SetSpeed(newspeed, newturnrate);
  }
  pp.SetSpeed(0, 0);
  std::cout << "arrived " << pp.GetXPos() << " " << pp.GetYPos() << std::endl;
  return 0;
}
