// Reads and commands the devices of a board: an inertial measurement unit, a receiver of satellites,
// inputs and outputs, joints, and a scanner with more readings than a laser.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

int main(int, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  ImuProxy imu(&robot, 0);
  GpsProxy gps(&robot, 0);
  DioProxy dio(&robot, 0);
  AioProxy aio(&robot, 0);
  ActArrayProxy arm(&robot, 0);
  RangerProxy scanner(&robot, 0);
  arm.RequestGeometry();
  cout << "before " << dio.GetCount() << " " << aio.GetCount() << " " << gps.GetQuality() << " " << imu.GetZAccel() << " " << scanner.GetRangeCount() << endl;
  robot.Read();
  cout << "imu " << imu.GetXAccel() << " " << imu.GetYAccel() << " " << imu.GetZAccel() << " " << imu.GetXGyro() << " " << imu.GetYGyro() << " " << imu.GetZGyro() << " "
       << imu.GetPose().proll << " " << imu.GetRawValues().accel_z << endl;
  cout << "unknown " << (imu.GetXMagn() != imu.GetXMagn()) << " " << (imu.GetYMagn() != imu.GetYMagn()) << " " << (imu.GetZMagn() != imu.GetZMagn()) << endl;
  cout.precision(10);
  cout << "gps " << gps.GetLatitude() << " " << gps.GetLongitude() << " " << gps.GetAltitude() << " " << gps.GetQuality() << " " << gps.GetSatellites() << endl;
  cout << "utm " << gps.GetUtmEasting() << " " << gps.GetUtmNorthing() << endl;
  cout << "errors " << gps.GetErrHorizontal() << " " << (gps.GetErrVertical() != gps.GetErrVertical()) << " " << gps.GetTime() << " " << gps.GetSpeed() << " " << gps.GetCourse()
       << " " << gps.GetHdop() << " " << gps.GetVdop() << endl;
  cout.precision(6);
  cout << "scan " << scanner.GetRangeCount() << " " << scanner.GetElementCount() << " " << scanner[0] << " " << scanner[1080] << " " << scanner[9999] << " "
       << scanner.GetMaxRange() << " " << scanner.GetMinRange() << endl;
  cout << "angles " << scanner.GetMinAngle() << " " << scanner.GetMaxAngle() << " " << scanner.GetAngularRes() << endl;
  cout << "point " << scanner.GetPointCount() << " " << scanner.GetPoint(540).px << " " << scanner.GetPoint(540).py << endl;

  cout << "inputs " << dio.GetCount() << " " << dio.GetDigin() << " " << dio.GetInput(0) << " " << dio[0] << " " << dio[9] << endl;
  cout << "volts " << aio.GetCount() << " " << aio.GetVoltage(0) << " " << aio[9] << endl;
  dio.SetOutput(1, 1);
  aio.SetVoltage(0, 30);
  cout << "joints " << arm.GetCount() << " " << arm.GetActuatorGeom(0).min << " " << arm.GetActuatorGeom(0).max << " " << arm.GetActuatorGeom(1).centre << " "
       << int(arm.GetActuatorGeom(0).type == PLAYER_ACTARRAY_TYPE_ROTARY) << " " << arm.GetBasePos().px << " " << arm.GetBaseOrientation().pyaw << endl;
  arm.SetPowerConfig(true);
  arm.SetBrakesConfig(false);
  arm.SetSpeedConfig(0, 0.5);
  arm.SetAccelerationConfig(0, 0.5);
  cout << "speed " << arm.GetActuatorGeom(0).config_speed << endl;
  arm.MoveTo(0, dtor(30));
  arm.MoveTo(1, dtor(999)); // beyond its limit
  for (int i = 0; i < 5; i++) robot.Read();
  cout << "moved " << arm.GetActuatorData(0).position << " " << arm[1].position << " " << int(arm[0].state) << " " << arm[9].position << endl;
  arm.MoveToMulti(vector<float>(2, 0.5));
  for (int i = 0; i < 5; i++) robot.Read();
  cout << "multi " << arm[0].position << " " << arm[1].position << endl;
  arm.MoveAtSpeed(0, -0.2);
  for (int i = 0; i < 5; i++) robot.Read();
  cout << "limit " << arm[0].position << " " << arm[1].position << endl;
  arm.MoveAtSpeedMulti(vector<float>(2, 0));
  arm.MoveHome(-1);
  int thrown = 0;
  try {
    arm.MoveHome(0);
  } catch (PlayerError &e) {
    cout << "home " << e << endl;
  }
  try {
    arm.SetActuatorCurrent(0, 1);
  } catch (PlayerError &) {
    thrown++;
  }
  try {
    arm.SetActuatorCurrentMulti(vector<float>(2, 1));
  } catch (PlayerError &) {
    thrown++;
  }
  try {
    arm.MoveTo(2, 0);
  } catch (PlayerError &) {
    thrown++;
  }
  try {
    dio.SetOutput(2, 3);
  } catch (PlayerError &) {
    thrown++;
  }
  imu.SetDatatype(1);
  try {
    imu.ResetOrientation(0);
  } catch (PlayerError &) {
    thrown++;
  }
  try {
    imu.ResetEuler(0, 0, 0);
  } catch (PlayerError &) {
    thrown++;
  }
  try {
    GpsProxy second(&robot, 1);
  } catch (PlayerError &e) {
    cout << "second " << e << endl;
  }
  cout << "thrown " << thrown << endl << imu << gps << dio << aio << arm;
  return 0;
}
