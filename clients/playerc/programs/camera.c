/* Takes a picture of a red post, saves it, and finds the post in it where the blobfinder has it. */
#include <sys/stat.h>
#include "device.h"

static long size(const char *path) {
  struct stat s;
  return stat(path, &s) ? -1 : (long)s.st_size;
}

int main(int n, char *arguments[]) {
  playerc_client_t *client = connected(arguments);
  char jpeg[300], raw[300];
  double red = 0, middle = 0;
  int i;
  (void)n;
  DEVICE(camera, camera, client, 0);
  DEVICE(blobfinder, finder, client, 0);
  snprintf(jpeg, sizeof jpeg, "%s/c.jpg", getenv("PICTURES"));
  snprintf(raw, sizeof raw, "%s/c.ppm", getenv("PICTURES"));
  printf("before %d %d\n", camera->image_count, camera->width);
  rounds(client, 3);
  printf("picture %d %d %d %d %d\n", camera->width, camera->height, camera->bpp, camera->format, camera->compression);
  printf("size %d\n", camera->image_count);
  playerc_camera_save(camera, jpeg);
  playerc_camera_decompress(camera);
  playerc_camera_save(camera, raw);
  printf("raw %d %d\n", camera->image_count, camera->compression);
  for (i = 0; i < camera->image_count; i += 3)
    if (camera->image[i] > 120 && camera->image[i + 1] < 60 && camera->image[i + 2] < 60) {
      red++;
      middle += i / 3 % camera->width;
    }
  printf("red %g\nmiddle %g\nblob %g\n", red, middle / red / camera->width, (double)finder->blobs[0].x / finder->width);
  printf("saved %ld %ld\n", size(jpeg), size(raw));
  return 0;
}
