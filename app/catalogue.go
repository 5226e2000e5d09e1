package app

import (
	"player/devices"
	"player/devices/acts"
	"player/devices/create"
	"player/devices/driveto"
	"player/devices/evid30"
	"player/devices/hdaps"
	"player/devices/joystick"
	"player/devices/kobuki"
	"player/devices/lasersonar"
	"player/devices/ldlidar"
	"player/devices/lines"
	"player/devices/nmea"
	"player/devices/p2os"
	"player/devices/passthrough"
	"player/devices/plugin"
	"player/devices/readlog"
	"player/devices/reflex"
	"player/devices/rplidar"
	"player/devices/sickcola"
	"player/devices/sicklms200"
	"player/devices/stage"
	"player/devices/testpattern"
	"player/devices/urg"
	"player/devices/writelog"
	"player/devices/ydlidar"
)

// catalogue lists the drivers of this server. A new driver needs one line here
// (docs/DRIVERS.md).
func catalogue() []devices.Kind {
	return []devices.Kind{
		p2os.Kind(),
		sicklms200.Kind(),
		urg.Kind(),
		rplidar.Kind(),
		ldlidar.Kind(),
		evid30.Kind(),
		acts.Kind(),
		create.Kind(),
		ydlidar.Kind(), // behind create: for a Create, the request of player find has three bytes more
		kobuki.Kind(),
		sickcola.Kind(),
		nmea.Kind(),
		lines.Kind(),
		stage.Kind(),
		joystick.Kind(),
		hdaps.Kind(),
		plugin.Kind(),
		passthrough.Kind(),
		lasersonar.Kind(),
		driveto.Kind(),
		reflex.Kind(),
		writelog.Kind(version()),
		readlog.Kind(),
		testpattern.Kind(),
	}
}
