# Meets the errors of Python programs.
from device import *

c = connected()
for name, device in (("laser", playerc_laser(c, 300)), ("fiducial", playerc_fiducial(c, 300))):
    print("%s %d %s" % (name, device.subscribe(PLAYERC_OPEN_MODE), playerc_error_str()))
c.disconnect()
