// Meets every error: no server listens, a device that is missing, a connection that ends.
#include <libplayerc++/playerc++.h>
#include <libplayerc++/playererror.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

template <typename Proxy> static void missing(PlayerClient &client, int index = 0) {
  try {
    Proxy proxy(&client, index);
    cout << "granted" << endl;
  } catch (PlayerCc::PlayerError &e) {
    cout << "missing " << e.GetErrorCode() << " " << e << endl;
  }
}

int main(int, char **argv) {
  try {
    PlayerClient client(argv[1], 1);
  } catch (PlayerError e) {
    cout << "refused " << e.GetErrorFun() << ": " << e.GetErrorStr() << endl;
  }
  PlayerClient bare(argv[1], atoi(argv[2]) + 2); // has wheels alone
  missing<LaserProxy>(bare);
  missing<SonarProxy>(bare);
  missing<IrProxy>(bare);
  missing<GripperProxy>(bare);
  missing<PtzProxy>(bare);
  missing<BlobfinderProxy>(bare);
  missing<RangerProxy>(bare);
  missing<CameraProxy>(bare);
  missing<LocalizeProxy>(bare);
  missing<PlannerProxy>(bare);
  missing<FiducialProxy>(bare);
  missing<SpeechProxy>(bare);
  missing<Position2dProxy>(bare, 400);
  missing<RangerProxy>(bare, 4);
  Position2dProxy wheels(&bare);
  bare.Read();
  cout << "bare " << wheels.IsValid() << endl;
  try {
    wheels.GoTo(1, 0, 0); // it has nothing to see with
  } catch (PlayerError &e) {
    cout << "goal " << e.GetErrorFun() << ": " << e.GetErrorStr() << endl;
  }
  cout << "end" << endl; // of the server
  cin.get();
  try {
    for (int i = 0; i < 100; i++) bare.Read();
  } catch (PlayerError &e) {
    cout << "lost " << e.GetErrorFun() << ": " << e.GetErrorStr() << endl;
  }
  try {
    wheels.SetSpeed(0.1, 0);
  } catch (PlayerError &e) {
    cout << "speed " << e.GetErrorFun() << ": " << e.GetErrorStr() << endl;
  }
  cout << "connected " << bare.Connected() << endl;
  return 0;
}
