// Meets every error: nobody listens, a device that is missing, a connection that ends.
#include <libplayerc++/playerc++.h>
#include <libplayerc++/playererror.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

template <typename Proxy> static void missing(PlayerClient &client, int index) {
  try {
    Proxy proxy(&client, index);
    cout << "granted" << endl;
  } catch (PlayerCc::PlayerError &e) {
    cout << "missing " << e.GetErrorCode() << " " << e << endl;
  }
}

int main(int argc, char **argv) {
  try {
    PlayerClient client(argv[1], 1);
  } catch (PlayerError e) {
    cout << "refused " << e.GetErrorFun() << ": " << e.GetErrorStr() << endl;
  }
  PlayerClient bare(argv[1], atoi(argv[2]) + 2); // has wheels alone
  missing<LaserProxy>(bare, 0);
  missing<SonarProxy>(bare, 0);
  missing<IrProxy>(bare, 0);
  missing<GripperProxy>(bare, 0);
  missing<PtzProxy>(bare, 0);
  missing<BlobfinderProxy>(bare, 0);
  missing<RangerProxy>(bare, 0);
  missing<CameraProxy>(bare, 0);
  missing<LocalizeProxy>(bare, 0);
  missing<PlannerProxy>(bare, 0);
  missing<FiducialProxy>(bare, 0);
  missing<SpeechProxy>(bare, 0);
  missing<Position2dProxy>(bare, 400);
  missing<RangerProxy>(bare, 4);
  Position2dProxy wheels(&bare);
  bare.Read();
  cout << "bare " << wheels.IsValid() << endl;
  cout << "end" << endl;
  cin.get(); // the server ends meanwhile
  for (int i = 0; i < 100; i++) {
    try {
      bare.Read();
      continue;
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
  return 1;
}
