package codec

const (
	// UsualPort is the TCP port of a robot's address without one (manual table 1).
	UsualPort = 6665
	// MaxIndex bounds the index of a device in a configuration. A robot has a handful of devices of
	// one kind; a larger number is probably a port in the wrong place, and an error.
	MaxIndex = 99
)
