# Takes a picture of a red post, saves it, and finds the post in it where the blobfinder has it.
import os
from device import *

c = connected()
camera, finder = subscribed(playerc_camera(c, 0), playerc_blobfinder(c, 0))
jpeg, raw = [os.path.join(os.environ["PICTURES"], name) for name in ("p.jpg", "p.ppm")]
print("before %d %d" % (len(camera.image), camera.width))
read(c, 3)
print("picture %d %d %d %d %d" % (camera.width, camera.height, camera.bpp, camera.format == PLAYER_CAMERA_FORMAT_RGB888 and 5, camera.compression))
print("size %d" % len(camera.image))
camera.save(jpeg)
camera.decompress()
camera.save(raw)
print("raw %d %d" % (camera.image_count, camera.compression))
pixels = bytearray(camera.image)
red = [i // 3 % camera.width for i in range(0, len(pixels), 3) if pixels[i] > 120 and pixels[i + 1] < 60 and pixels[i + 2] < 60]
print("red %d" % len(red))
print("middle %g" % (sum(red) / float(len(red)) / camera.width))
print("blob %g" % (finder.blobs[0].x / float(finder.width)))
print("saved %d %d" % (os.path.getsize(jpeg), os.path.getsize(raw)))
