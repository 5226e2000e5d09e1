// Takes a picture of a red post, saves it, and finds the post in it where the blobfinder has it.
#include <libplayerc++/playerc++.h>
#include <sys/stat.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

static long size(const string &path) {
  struct stat s;
  return stat(path.c_str(), &s) ? -1 : long(s.st_size);
}

int main(int, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  CameraProxy camera(&robot, 0);
  BlobfinderProxy bf(&robot, 0);
  string prefix = string(getenv("PICTURES")) + "/frame";
  cout << "before " << camera.GetImageSize() << " " << camera.GetWidth() << endl;
  for (int i = 0; i < 3; i++) robot.Read();
  cout << "picture " << camera.GetWidth() << " " << camera.GetHeight() << " " << camera.GetDepth() << " " << camera.GetFormat() << " " << camera.GetCompression() << endl;
  cout << "size " << camera.GetImageSize() << endl;
  camera.SaveFrame(prefix);
  camera.Decompress();
  camera.SaveFrame(prefix, 2);
  vector<uint8_t> image(camera.GetImageSize());
  camera.GetImage(&image[0]);
  cout << "raw " << camera.GetImageSize() << " " << camera.GetCompression() << endl;
  double red = 0, middle = 0;
  for (uint i = 0; i < image.size(); i += 3)
    if (image[i] > 120 && image[i + 1] < 60 && image[i + 2] < 60) red++, middle += i / 3 % camera.GetWidth();
  cout << "red " << red << endl << "middle " << middle / red / camera.GetWidth() << endl << "blob " << double(bf[0].x) / bf.GetWidth() << endl;
  cout << "saved " << size(prefix + "0000.jpg") << " " << size(prefix + "01.ppm") << endl;
  return 0;
}
