# Does the same as the program camera, with the names of C++.
import os
import sys
from playercpp import *

robot = PlayerClient(sys.argv[1], int(sys.argv[2]))
camera, finder = CameraProxy(robot, 0), BlobfinderProxy(robot, 0)
prefix = os.path.join(os.environ["PICTURES"], "frame")
print("before %d %d" % (camera.GetImageSize(), camera.GetWidth()))
for i in range(3):
    robot.Read()
print("picture %d %d %d %d %d" % (camera.GetWidth(), camera.GetHeight(), camera.GetDepth(), camera.GetFormat(), camera.GetCompression()))
print("size %d" % camera.GetImageSize())
camera.SaveFrame(prefix)
camera.Decompress()
camera.SaveFrame(prefix, 2)
pixels, width = bytearray(camera.GetImage()), camera.GetWidth()
print("raw %d %d" % (len(pixels), camera.GetCompression()))
red = [i // 3 % width for i in range(0, len(pixels), 3) if pixels[i] > 120 and pixels[i + 1] < 60 and pixels[i + 2] < 60]
print("red %d" % len(red))
print("middle %g" % (sum(red) / float(len(red)) / width))
print("blob %g" % (finder[0].x / float(finder.GetWidth())))
print("saved %d %d" % (os.path.getsize(prefix + "0000.jpg"), os.path.getsize(prefix + "01.ppm")))
