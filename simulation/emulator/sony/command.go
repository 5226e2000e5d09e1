package sony

// A command is one packet that the camera knows. It has one of three kinds of effect.
type command struct {
	name    string
	pattern string

	// direct sends its own answer.
	direct func(c *Camera, args []int)
	// inquiry returns the bytes between 90 50 and FF.
	inquiry func(c *Camera) []byte
	// start starts a command that occupies a socket until its axes stop. err
	// is a code such as ErrSyntax, or 0.
	start func(c *Camera, args []int) (uses []*axis, err byte)

	always bool // also understood with the power off
}

var unknown = command{name: "unknown"}

var commands = []command{
	{name: "address set", pattern: "88 30 01 FF", always: true,
		direct: func(c *Camera, _ []int) { c.send([]byte{0x88, 0x30, 0x02, end}, "address set: one camera") }},
	{name: "clear", pattern: "88 01 00 01 FF", always: true,
		direct: func(c *Camera, _ []int) { c.clear(); c.send([]byte{0x88, 0x01, 0x00, 0x01, end}, "cleared") }},
	{name: "clear", pattern: "81 01 00 01 FF", always: true,
		direct: func(c *Camera, _ []int) { c.clear(); c.answer(replyDone, "cleared") }},
	{name: "cancel", pattern: "81 2s FF",
		direct: func(c *Camera, args []int) { c.cancel(args[0]) }},

	{name: "version inquiry", pattern: "81 09 00 02 FF", always: true,
		// vendor, model, ROM 0001, 2 sockets
		inquiry: func(c *Camera) []byte {
			v, n := c.model.vendor, c.model.number
			return []byte{byte(v >> 8), byte(v), byte(n >> 8), byte(n), 0x00, 0x01, 0x02}
		}},
	{name: "power inquiry", pattern: "81 09 04 00 FF", always: true, inquiry: func(c *Camera) []byte {
		if c.off {
			return []byte{powerOff}
		}
		return []byte{powerOn}
	}},
	{name: "position inquiry", pattern: "81 09 06 12 FF", inquiry: func(c *Camera) []byte {
		return appendNibbles(appendNibbles(nil, c.pan.units()), c.tilt.units())
	}},
	{name: "zoom inquiry", pattern: "81 09 04 47 FF", inquiry: func(c *Camera) []byte {
		return appendNibbles(nil, c.zoom.units())
	}},

	{name: "power", pattern: "81 01 04 00 pp FF", always: true, start: power},
	{name: "move", pattern: "81 01 06 02 vv ww 0p 0p 0p 0p 0t 0t 0t 0t FF", start: move},
	{name: "home", pattern: "81 01 06 04 FF", start: goHome},
	{name: "reset", pattern: "81 01 06 05 FF", start: goHome},
	{name: "zoom", pattern: "81 01 04 47 0z 0z 0z 0z FF", start: zoom},
	{name: "drive", pattern: "81 01 06 01 vv ww pp tt FF", start: drive},
}

const (
	powerOn  = 2
	powerOff = 3
)

func power(c *Camera, args []int) ([]*axis, byte) {
	if args[0] != powerOn && args[0] != powerOff {
		return nil, ErrSyntax
	}
	c.off = args[0] == powerOff
	if c.off {
		c.halt()
	}
	return nil, 0
}

// speedOK reports whether the speeds of pan and tilt are in the table.
func (m *model) speedOK(pan, tilt int) bool {
	return pan >= 1 && pan <= m.panFastest && tilt >= 1 && tilt <= m.tiltFastest
}

func move(c *Camera, args []int) ([]*axis, byte) {
	v, w, p, t := args[0], args[1], args[2], args[3]
	m := c.model
	switch {
	case !m.speedOK(v, w):
		return nil, ErrSyntax
	case p < m.panMin || p > m.panMax || t < m.tiltMin || t > m.tiltMax:
		return nil, ErrNotExecutable
	}
	c.pan.goTo(float64(p), m.panRate(v))
	c.tilt.goTo(float64(t), m.tiltRate(w))
	return []*axis{&c.pan, &c.tilt}, 0
}

// goHome moves to 0, 0 as fast as the camera can. A reset also does so (assumed: without a search for the ends).
func goHome(c *Camera, _ []int) ([]*axis, byte) {
	return move(c, []int{c.model.panFastest, c.model.tiltFastest, 0, 0})
}

func zoom(c *Camera, args []int) ([]*axis, byte) {
	if args[0] < 0 || args[0] > c.model.zoomMax {
		return nil, ErrNotExecutable
	}
	c.zoom.goTo(float64(args[0]), c.model.zoomRate())
	return []*axis{&c.zoom}, 0
}

// drive moves the axes until a stop or the next command. The command itself
// completes at once.
func drive(c *Camera, args []int) ([]*axis, byte) {
	v, w, p, t := args[0], args[1], args[2], args[3]
	m := c.model
	if !m.speedOK(v, w) || p < 1 || p > 3 || t < 1 || t > 3 {
		return nil, ErrSyntax
	}
	steer(&c.pan, [...]int{1: m.panMin, 2: m.panMax}, p, m.panRate(v))
	steer(&c.tilt, [...]int{1: m.tiltMax, 2: m.tiltMin}, t, m.tiltRate(w))
	return nil, 0
}

// steer moves an axis towards one of its ends (way 1 or 2), or stops it (way
// 3).
func steer(a *axis, ends [3]int, way int, speed float64) {
	if way == 3 {
		a.stop()
		return
	}
	a.goTo(float64(ends[way]), speed)
}
