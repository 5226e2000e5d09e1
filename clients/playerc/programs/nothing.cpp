// Uses every device that this server does not have, as a program does that goes on
// without them.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  CameraProxy camera(&robot, 0);
  LocalizeProxy localize(&robot, 0);
  PlannerProxy planner(&robot, 0);
  SpeechProxy speech(&robot, 0);
  Graphics2dProxy graphics(&robot, 0);
  IrProxy ir(&robot, 0);
  uint8_t image[4] = {1, 2, 3, 4};
  player_color_t red = {255, 255, 0, 0};
  player_point_2d_t points[2] = {{0, 0}, {1, 1}};
  double pose[3] = {0, 0, 0}, cov[3] = {1, 1, 1};
  for (int i = 0; i < 10; i++) {
    robot.Read();
    camera.Decompress();
    camera.GetImage(image);
    camera.SaveFrame("frame");
    localize.SetPose(pose, cov);
    planner.SetGoalPose(1, 1, 0);
    planner.RequestWaypoints();
    planner.SetEnable(true);
    speech.Say("hello");
    graphics.Clear();
    graphics.Color(red);
    graphics.Color(255, 0, 0, 0);
    graphics.DrawPoints(points, 2);
    graphics.DrawPolyline(points, 2);
    graphics.DrawPolygon(points, 2, true, red);
    pp.SetSpeed(0.2, 0);
  }
  cout << "camera " << camera.GetWidth() << " " << camera.GetHeight() << " " << camera.GetDepth() << " " << camera.GetFormat() << " " << camera.GetImageSize() << " "
       << camera.GetCompression() << " " << int(image[3]) << endl;
  cout << "localize " << localize.GetHypothCount() << " " << localize.GetHypoth(0).mean.px << endl;
  cout << "planner " << planner.GetPathValid() << " " << planner.GetPathDone() << " " << planner.GetWaypointCount() << endl;
  cout << "ir " << ir.GetVoltage(0) << " " << ir.GetPoseCount() << endl;
  cout << "x " << pp.GetXPos() << endl;
  return 0;
}
