// Uses what other programs do not, as a program that goes on without the devices which this server lacks. Its clients
// and proxies are globals, which are made before main, and its names are its own: nothing but what programs use is in
// namespace PlayerCc. It includes nothing else. The test compiles it in old and new C++, and links it with the
// libraries that build lines of Player 2 name.
#include "player-2.1/libplayerc++/playerc++.h"

using namespace std;
using namespace PlayerCc;

struct Core {};
struct Device {};
struct Slot {};
struct World {};
struct Client {};
typedef double reading;
enum mode { CONTINUOUS, DIRECTWHEELVELOCITY, Two, All, Create };
static const double PI = 3.14159;

string host(getenv("ROBOT_HOST"));
uint port = atoi(getenv("ROBOT_PORT"));
PlayerClient robot(host, port);
PlayerClient eye(host, port);
Position2dProxy pp(&robot, 0);
BlobfinderProxy bf(&eye, 0);
SimulationProxy sim(&robot, 0);

int main() {
  Core core;
  Device device;
  Slot slot;
  World world;
  Client mine;
  (void)core, (void)device, (void)slot, (void)world, (void)mine;
  double move = 0, data = 0, distance = 0;
  vector<double> list;
  vector<uint8_t> image;
  player_color_t red = {255, 255, 0, 0};
  player_point_2d_t points[2] = {{0, 0}, {1, 1}};
  double pose[3] = {0, 0, 0}, cov[3] = {1, 1, 1};
  LocalizeProxy localize(&robot, 0);
  PlannerProxy planner(&robot, 0);
  SpeechProxy speech(&robot, 0);
  Graphics2dProxy graphics(&robot, 0);
  IrProxy ir(&robot, 0);
  PowerProxy power(&robot);
  GripperProxy gripper(&robot);
  PtzProxy ptz(&robot);
  BumperProxy bumper(&robot);
  RangerProxy ranger(&robot);
  CameraProxy camera(&robot, 0);
  RangerProxy nowhere(&robot, 300);
  ImuProxy imu(&robot);
  GpsProxy gps(&robot);
  DioProxy dio(&robot);
  AioProxy aio(&robot);
  ActArrayProxy arm(&robot);
  SonarProxy *sonar = new SonarProxy(&robot, 0);
  LaserProxy *laser = new LaserProxy(&robot);
  robot.SetRequestTimeout(20);
  robot.SetRetryLimit(3);
  robot.SetRetryTime(0.5);
  robot.RequestDeviceList();
  robot.SetDataMode(PLAYER_DATAMODE_PUSH);
  pp.SetMotorEnable(TRUE);
  for (uint i = 0; i < 30; i++) {
    robot.Read();
    eye.Read();
    camera.Decompress();
    image.resize(camera.GetImageSize());
    camera.GetImage(image.data());
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
    pp.SetSpeed(min(0.2, max(0.1, limit(PI, 0.0, 1.0))), 0);
    list.push_back(pp.GetXPos());
  }
  cout << "push " << list.back() << " " << bf.GetCount() << endl;
  cout << robot << endl << pp << *sonar << *laser << ranger << gripper << ptz << bf << bumper << power << ir << endl;
  cout << "client " << robot.GetRetryLimit() << " " << robot.GetRetryTime() << " " << (robot.GetHostname() == host) << " " << (pp.GetClient() == &robot) << " "
       << pp.GetDriverName().empty() << endl;
  cout << "camera " << camera.GetWidth() << " " << camera.GetHeight() << " " << camera.GetDepth() << " " << camera.GetFormat() << " " << camera.GetImageSize() << " "
       << camera.GetCompression() << " " << camera.IsValid() << " " << (image.size() == camera.GetImageSize()) << endl;
  cout << "localize " << localize.GetHypothCount() << " " << localize.GetHypoth(0).mean.px << endl;
  cout << "planner " << planner.GetPathValid() << " " << planner.GetPathDone() << " " << planner.GetWaypointCount() << endl;
  cout << "ir " << ir.GetVoltage(0) << " " << ir.GetPoseCount() << endl;
  nowhere.RequestGeom();
  dio.SetOutput(1, 1);
  aio.SetVoltage(0, 1);
  arm.SetPowerConfig(true);
  arm.SetSpeedConfig(0, 1);
  arm.MoveTo(0, 1);
  arm.MoveAtSpeed(0, 1);
  arm.MoveHome(-1);
  cout << "nowhere " << nowhere.GetRangeCount() << " " << nowhere.GetElementCount() << " " << nowhere.GetMinAngle() << " " << nowhere.GetDevicePose().px << " "
       << nowhere.GetDeviceSize().sl << " " << nowhere.GetElementPose(0).px << " " << nowhere.GetPoint(0).py << " " << nowhere.GetAngularRes() << endl;
  cout << "nothing " << imu.GetPose().pyaw << " " << imu.GetZAccel() << " " << gps.GetQuality() << " " << gps.GetLatitude() << " " << dio.GetDigin() << " " << dio[0] << " "
       << aio.GetCount() << " " << aio[0] << " " << arm.GetCount() << " " << arm[0].position << " " << arm.GetActuatorGeom(0).max << endl;
  cout << nowhere << imu << gps << dio << aio << arm;
  power.SetChargingPolicy(true, true);
  cout << "watts " << power.GetJoules() << " " << power.GetWatts() << " " << power.GetCharging() << endl;
  gripper.Store();
  gripper.Retrieve();
  sim.SetPose2d("puck", -1, -2, 0);
  sim.GetPose2d("puck", move, data, distance);
  cout << "moved " << move << " " << data << " " << distance << endl;
  delete laser;
  delete sonar;
  // Programs delete in any order.
  PlayerClient *client = new PlayerClient(host, port);
  Position2dProxy *wheels = new Position2dProxy(client, 0);
  delete client;
  delete wheels;
  return CONTINUOUS;
}
