package migrate

import (
	"slices"
	"strings"
)

// The tables are text: a line for each driver, and a third of the size of maps in the
// program.

// drivers has the drivers of Player 1 to 3 that have a counterpart: the name there
// and here, the interfaces and the default serial port there (- for none, with
// elsewhere before it if the one here is another), and the options that are converted.
const drivers = `
p2os p2os position,sonar,gripper,misc /dev/ttyS0 port
p2os_position p2os position,sonar,gripper,misc /dev/ttyS0 port
p2os_sonar p2os position,sonar,gripper,misc /dev/ttyS0 port
p2os_gripper p2os position,sonar,gripper,misc /dev/ttyS0 port
p2os_power p2os position,sonar,gripper,misc /dev/ttyS0 port
p2os_bumper p2os position,sonar,gripper,misc /dev/ttyS0 port
p2os_misc p2os position,sonar,gripper,misc /dev/ttyS0 port
sicklms200 sicklms200 laser /dev/ttyS1 port
urglaser urg laser /dev/ttyACM0 port
urg_nz urg laser /dev/ttyACM0 port
hokuyo_aist urg laser /dev/ttyACM0 portopts
hokuyoaist urg laser /dev/ttyACM0 portopts
sonyevid30 evid30 ptz /dev/ttyS2 port
evid30 evid30 ptz /dev/ttyS2 port
acts acts vision - port configfile
create create position,misc !/dev/ttyS0 port safe
roomba create position,misc !/dev/ttyS0 port safe
linuxjoystick joystick joystick /dev/input/js0 port
stage stage - - worldfile alwayson plugin
`

// elsewhere marks a default serial port that is another one here.
const elsewhere = "!"

// transports has the options of the drivers that say where the hardware is.
const transports = "port portopts use_tcp"

// reasons has drivers of Player 1 to 3 without a counterpart, and why.
const reasons = `
amcl fakelocalize goto laserbar laserbarcode laserfeature lasercspace mapcspace mapfile mapscale mbicp mricp nd snd vfh vmapfile wavefront : maps, localisation and navigation are work for a client
bumpersafe lasersafe : player -reflex keeps the robot from collisions
readlog : recordings of Player 1 to 3 cannot be replayed
writelog : the driver writelog here has other options, see docs/LOGS.md
passthrough : Player 1 to 3 speak another protocol; the driver passthrough here is for servers like this one
lasertoranger rangertolaser : every scanner is served as laser
service_adv_mdns service_adv_lsd : avahi announces the robot, see docs/INSTALL.md
gz_sim gz_position gz_position2d gz_laser gz_ptz gz_sonars gz_camera gz_power : there is no Gazebo, player -stage simulates
`

// interfaces has the interfaces of Player 1 to 3 that this server has, under their
// names here. A ranger is a laser in the drivers above.
const interfaces = `
position position
position2d position
sonar sonar
laser laser
ranger laser
gripper gripper
misc misc
power misc
bumper misc
vision vision
blobfinder vision
ptz ptz
joystick joystick
`

// foreign has the other interfaces of Player 1 to 3.
const foreign = `
actarray aio audio audiodsp audiomixer blackboard blinkenlight camera comms dio energy fiducial gps graphics2d graphics3d health
idar imu ir laserbeacon limb localize log map mcom motor nomad null opaque planner player pointcloud3d position1d position3d rfid
simulation sound speech speech_recognition stereo truth vectormap waveform wifi wsn
`

// usual has the drivers of devices of Player 1 that name none, by interface here.
const usual = `
position p2os
sonar p2os
gripper p2os
misc p2os
laser sicklms200
vision acts
ptz sonyevid30
joystick linuxjoystick
`

// own has the drivers in reasons whose names this server has, too.
const own = "readlog writelog passthrough"

// row returns the words of the row of a table that begins with a name, or nil.
func row(table, name string) []string {
	for _, line := range strings.Split(table, "\n") {
		if words := strings.Fields(line); len(words) > 0 && words[0] == name {
			return words
		}
	}
	return nil
}

// entry returns the second word of a row; empty: there is no row.
func entry(table, name string) string {
	if words := row(table, name); words != nil {
		return words[1]
	}
	return ""
}

// reason returns why a driver of Player 1 to 3 has no counterpart; empty: the driver
// is not known.
func reason(name string) string {
	for _, line := range strings.Split(reasons, "\n") {
		if names, why, _ := strings.Cut(line, " : "); has(names, name) {
			return why
		}
	}
	return ""
}

// has reports whether a word is in a list.
func has(list, word string) bool { return slices.Contains(strings.Fields(list), word) }
