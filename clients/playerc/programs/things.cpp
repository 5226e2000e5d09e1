// Finds things of the simulation with the camera and the fiducial finder, fetches a puck with the gripper, and puts
// things and the robot elsewhere.
#include <libplayerc++/playerc++.h>
#include <iostream>
#include <locale.h>
#include <stdio.h>
using namespace PlayerCc;
using namespace std;

static void rounds(PlayerClient &robot, int n) {
  while (n-- > 0) robot.Read();
}

static void where(const char *name, SimulationProxy &sim, const char *thing) {
  double x, y, yaw;
  sim.GetPose2d(thing, x, y, yaw);
  cout << name << " " << x << " " << y << " " << yaw << endl;
}

// Returns the lowest blob of a colour in the image; its color is 0 if there is none.
static playerc_blobfinder_blob_t lowest(const BlobfinderProxy &bf, uint32_t colour) {
  playerc_blobfinder_blob_t found = playerc_blobfinder_blob_t();
  for (uint n = 0; n < bf.GetCount(); n++)
    if (bf[n].color == colour && bf[n].bottom >= found.bottom) found = bf.GetBlob(n);
  return found;
}

static double ahead(const BlobfinderProxy &bf, uint32_t colour) { // rad/s that turn to it
  playerc_blobfinder_blob_t b = lowest(bf, colour);
  return b.color == colour ? ((int)bf.GetWidth() / 2 - (int)b.x) * 0.01 : dtor(20);
}

int main(int, char **argv) {
  setlocale(LC_ALL, ""); // as programs with windows do
  PlayerClient robot(argv[1], atoi(argv[2]));
  SimulationProxy sim(&robot, 0);
  Position2dProxy pp(&robot, 0);
  GripperProxy gp(&robot, 0);
  PtzProxy ptz(&robot, 0);
  BlobfinderProxy bf(&robot, 0);
  FiducialProxy fp(&robot, 0);
  SonarProxy sp(&robot, 0);
  char name[20] = "r0", item[20];
  double bearing, range, apart = 0;

  fp.RequestGeometry();
  cout << "before " << fp.GetCount() << " " << fp.GetFiducialItem(0).id << endl;
  robot.Read();
  player_fiducial_item_t seen = fp.GetFiducialItem(0);
  cout << "first " << fp.GetCount() << " " << seen.id << " " << seen.pose.px << " " << seen.pose.py << " " << fp.GetFiducialItem(9).id << endl;
  where("robot", sim, name);
  where("other", sim, "r1");
  for (int i = 0; i < 300; i++) { // to the red post
    robot.Read();
    seen = fp.GetFiducialItem(0);
    bearing = atan2(seen.pose.py, seen.pose.px), range = hypot(seen.pose.px, seen.pose.py);
    if (sp[3] < 0.5 || sp[4] < 0.5 || range < 0.8) break;
    double turn = ahead(bf, 0xff0000);
    pp.SetSpeed(fabs(turn) < 0.1 ? 0.2 : 0, turn);
    if (lowest(bf, 0xff0000).color) apart = max(apart, fabs(turn / 0.01 * dtor(48.8) / 160 - bearing));
  }
  pp.SetSpeed(0, 0);
  rounds(robot, 10);
  seen = fp.GetFiducialItem(0);
  cout << "post " << hypot(seen.pose.px, seen.pose.py) << endl << "apart " << apart << endl;
  where("there", sim, name);

  sim.SetPose3d((char *)"r0", -1, 1.5, 0, 0, 0, -M_PI / 2);
  where("moved", sim, name);
  sprintf(item, "puck");
  sim.SetPose2d((char *)"r0", -2, 0, 0);
  sim.SetPose2d("yellow", -0.3, 0.15, 0);
  sim.SetPose2d("blue", -0.3, -0.15, 0);
  sim.SetPose2d(item, -1, 0.1, 0);
  gp.Open();
  ptz.SelectControlMode(PLAYER_PTZ_POSITION_CONTROL);
  ptz.SetCam(dtor(45), dtor(-10), 0.3);
  rounds(robot, 60);
  cout << "ptz " << ptz.GetPan() << " " << ptz.GetTilt() << " " << ptz.GetZoom() << " " << ptz.GetStatus() << endl;
  ptz.SetCam(0, 0, 0);
  rounds(robot, 60);
  cout << "back " << ptz.GetPan() << " " << ptz.GetTilt() << " " << ptz.GetZoom() << endl;
  ptz.SetCam(0, dtor(-20), 0.85);
  rounds(robot, 30);
  cout << "colours " << (lowest(bf, 0x00ff00).color != 0) << " " << (lowest(bf, 0xffff00).color != 0) << " " << (lowest(bf, 0x0000ff).color != 0) << endl;
  cout << "open " << (gp.GetState() == PLAYER_GRIPPER_STATE_OPEN) << " " << gp.GetBeams() << endl;
  for (int i = 0; i < 200 && !(gp.GetBeams() & 2); i++) {
    pp.SetSpeed(0.1, lowest(bf, 0x00ff00).color ? ahead(bf, 0x00ff00) : 0);
    robot.Read();
  }
  cout << "inner " << (gp.GetBeams() & 2) << endl;
  pp.SetSpeed(0, 0);
  gp.Close();
  rounds(robot, 30);
  cout << "closed " << (gp.GetState() == PLAYER_GRIPPER_STATE_CLOSED) << " " << (gp.GetBeams() != 0) << endl;
  where("fetched", sim, item);
  for (int i = 0; i < 30; i++) {
    pp.SetSpeed(-0.2, 0);
    robot.Read();
  }
  pp.SetSpeed(0, 0);
  rounds(robot, 10);
  where("carried", sim, item);
  gp.Open();
  gp.Stop();
  sim.SetPose2d("yellow", -100, -100, 0);
  where("taken", sim, "yellow");
  float color[4] = {0, 0.2f, 1, 1};
  try {
    sim.GetPose2d("nobody", bearing, range, apart);
  } catch (PlayerError e) {
    cout << "unknown " << e.GetErrorStr() << endl;
  }
  sim.SetProperty(name, (char *)"color", color, sizeof color);
  color[1] = color[2] = color[3] = 9;
  sim.GetProperty(name, (char *)"color", color, sizeof color);
  cout << "color " << color[0] << " " << color[1] << " " << color[2] << " " << color[3] << endl;
  color[0] = 1;
  sim.SetProperty("post", "color", color, sizeof color); // it does not move
  try {
    sim.SetProperty("nobody", "color", color, sizeof color);
  } catch (PlayerError &e) {
    cout << "set " << e << endl;
  }
  try {
    sim.GetProperty(name, (char *)"color", color, 2);
  } catch (PlayerError e) {
    cout << "get " << e << endl;
  }
  try {
    sim.SetProperty(name, "fiducial_return", color, sizeof color);
  } catch (PlayerError &e) {
    cout << "finder " << e << endl;
  }
  return 0;
}
