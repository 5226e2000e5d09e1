// A robot that has several of each: three rangers, cameras and grippers in front and behind, and a receiver of
// satellites. The devices of the next robot follow its own.
#include <libplayerc++/playerc++.h>
#include <stdlib.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

static void rounds(PlayerClient &robot, int n) {
  while (n-- > 0) robot.Read();
}

int main(int, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0), next(&robot, 1);
  RangerProxy corners(&robot, 0), feeler(&robot, 1), scanner(&robot, 2), others(&robot, 3), last(&robot, 5);
  LaserProxy first(&robot, 0), wide(&robot, 5), foreign(&robot, 6);
  GripperProxy front(&robot, 0), rear(&robot, 1), far(&robot, 2);
  BlobfinderProxy ahead(&robot, 0), behind(&robot, 1);
  PtzProxy eye(&robot, 0), back(&robot, 1);
  GpsProxy gps(&robot, 0);
  ImuProxy imu(&robot, 0);
  corners.RequestGeom();
  corners.RequestConfigure();
  setenv("PLAYERC_READINGS", "all", 1);
  setenv("PLAYERC_RANGERS", "ranger:2,laser:5,ranger:0", 1);
  PlayerClient eager(argv[1], atoi(argv[2]));
  RangerProxy chosen(&eager, 0), laser(&eager, 1), every(&eager, 2);

  cout << "before " << corners.GetRangeCount() << " " << scanner.GetRangeCount() << " " << corners[0] << " " << feeler[0] << " " << scanner[90] << endl;
  eager.Read();
  rounds(robot, 2);
  cout << "counts " << corners.GetRangeCount() << " " << feeler.GetRangeCount() << " " << scanner.GetRangeCount() << " " << others.GetRangeCount() << " "
       << last.GetRangeCount() << endl;
  cout << "sensors " << corners.GetElementCount() << " " << feeler.GetElementCount() << " " << scanner.GetElementCount() << endl;
  cout << "corners " << corners[0] << " " << corners[1] << " " << corners[2] << " " << corners[3] << endl;
  for (uint i = 0; i < 4; i++) cout << "pose" << i << " " << corners.GetElementPose(i).px << " " << corners.GetElementPose(i).py << " " << corners.GetElementPose(i).pyaw << endl;
  cout << "feeler " << feeler[90] << " " << feeler.GetMaxRange() << endl;
  cout << "scanner " << scanner[0] << " " << scanner[90] << " " << scanner[179] << " " << scanner.GetMinAngle() << " " << scanner.GetMaxAngle() << " "
       << scanner.GetAngularRes() << " " << scanner.GetDevicePose().px << " " << scanner.GetMaxRange() << endl;
  cout << "others " << others[0] << " " << last[90] << endl;
  cout << "lasers " << first.GetCount() << " " << wide.GetCount() << " " << wide[90] << " " << wide.GetMaxRange() << " " << foreign.GetCount() << endl;
  cout << "every " << every.GetRangeCount() << " " << every.GetElementCount() << " " << every[0] << " " << every[719] << " " << every[720] << " " << every.GetPoint(0).px << endl;
  cout << "chosen " << chosen.GetRangeCount() << " " << chosen[90] << " " << laser.GetRangeCount() << " " << laser[180] << endl;

  cout << "blobs " << ahead.GetCount() << " " << behind.GetCount() << endl;
  cout << "colours " << ahead[0].color << " " << ahead[1].color << " " << behind[0].color << endl;
  back.SetCam(dtor(40), 0, 0);
  rear.Close();
  rounds(robot, 30);
  cout << "heads " << eye.GetPan() << " " << back.GetPan() << " " << back.GetZoom() << endl;
  cout << "hands " << front.GetState() << " " << rear.GetState() << " " << far.GetState() << endl;
  cout << "mounted " << front.GetPose().px << " " << rear.GetPose().px << endl;

  cout.precision(10);
  cout << "started " << gps.GetUtmEasting() << " " << gps.GetUtmNorthing() << " " << gps.GetQuality() << endl;
  double east = gps.GetUtmEasting(), north = gps.GetUtmNorthing();
  for (int i = 0; i < 30; i++) {
    pp.SetSpeed(-0.2, dtor(-10));
    next.SetSpeed(0.1, 0);
    robot.Read();
  }
  cout << "turning " << imu.GetZGyro() << " " << imu.GetZAccel() << " " << imu.GetXAccel() << endl;
  pp.SetSpeed(0, 0);
  next.SetSpeed(0, 0);
  rounds(robot, 10);
  double x, y, heading;
  SimulationProxy sim(&robot, 0);
  sim.GetPose2d("full", x, y, heading);
  cout << "truth " << x - 1 << " " << y << " " << heading << endl;
  cout << "driven " << gps.GetUtmEasting() - east << " " << gps.GetUtmNorthing() - north << " " << imu.GetPose().pyaw << " " << next.GetYPos() << endl;
  pp.GoTo(-1.6, 1.2, 0); // the carton is in the straight line
  int stalls = 0;
  for (int i = 0; i < 300; i++) {
    robot.Read();
    stalls += pp.GetStall();
  }
  cout << "arrived " << pp.GetXPos() << " " << pp.GetYPos() << " " << stalls << endl;
  try {
    RangerProxy none(&robot, 6);
  } catch (PlayerError &e) {
    cout << "missing " << e << endl;
  }
  return 0;
}
