# Reads a robot that has several of each, with the names of C, and of blobs what programs of Python 2 read.
from device import *

c = connected()
corners, feeler, scanner, others = subscribed(*[playerc_ranger(c, i) for i in range(4)])
ahead, behind, front, rear = subscribed(playerc_blobfinder(c, 0), playerc_blobfinder(c, 1), playerc_gripper(c, 0), playerc_gripper(c, 1))
graphics, sim = subscribed(playerc_graphics2d(c, 0), playerc_simulation(c, 0))
for d in (corners, feeler, scanner):
    d.get_geom()
    d.get_config()
read(c, 2)
print("counts %d %d %d %d" % (corners.ranges_count, feeler.ranges_count, scanner.ranges_count, len(others.ranges)))
print("sensors %d %d %d" % (corners.element_count, feeler.element_count, scanner.element_count))
print("corners %g %g %g %g" % tuple(corners.ranges))
print("feeler %g %g" % (feeler.ranges[90], feeler.max_range))
print("scanner %g %g %g %g %g %g %g %g" % (scanner.ranges[0], scanner.ranges[90], scanner.ranges[179], scanner.min_angle, scanner.max_angle, scanner.angular_res, scanner.device_pose.px, scanner.max_range))
print("blobs %d %d" % (ahead.blobs_count, behind.blobs_count))
blob = ahead.blobs[0]
print("blob %d %d %d" % (blob.id, blob.__getattr__("x") == blob.x, blob.__getattr__("area") == blob.area))
try:
    blob.__getattr__("colour")
except AttributeError:
    print("attribute no")
print("text %s" % blob)
green = player_color_t(255, 0, 255, 0)
green.red = 0
print("graphics %d %d %d %d" % (graphics.setcolor(green), graphics.draw_points([player_point_2d_t(1, 2)], 1), graphics.draw_polyline([], 0), graphics.clear()))
print("polygon %d" % graphics.draw_polygon([], 0, 1, green))
print("color %d" % sim.set_property("full", "color", [green.red / 255.0, green.green / 255.0, green.blue / 255.0, 0]))
print("is %d %g %g %g %g" % ((lambda r: (r[0],) + tuple(r[1]))(sim.get_property("full", "color"))))
print("other %d %s" % (sim.set_property("full", "mass", [1]), playerc_error_str()))
rear.close_cmd()
read(c, 30)
print("hands %d %d" % (front.state, rear.state))
