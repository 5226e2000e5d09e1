package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"player/devices/retry"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/process/serialport"
	"player/simulation/emulator/create"
	"player/simulation/emulator/kobuki"
	"player/simulation/emulator/ldlidar"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
	"player/simulation/emulator/rplidar"
	laser "player/simulation/emulator/sick"
	"player/simulation/emulator/sickcola"
	"player/simulation/emulator/sony"
	"player/simulation/emulator/urg"
	"player/simulation/emulator/ydlidar"
)

// adapter serves a serial line over TCP as ser2net does: raw, at one speed, for one
// connection at a time, and with the line closed in between.
type adapter struct {
	path     string
	baud     int
	address  string
	mu       sync.Mutex
	listener net.Listener // nil while it is cut off
	conn     net.Conn     // nil: none
}

func overTCP(t *testing.T, path string, baud int) *adapter {
	t.Helper()
	a := &adapter{path: path, baud: baud, address: "127.0.0.1:0"}
	a.mend(t)
	t.Cleanup(a.cut)
	return a
}

// mend has the adapter listen, again at the same address.
func (a *adapter) mend(t *testing.T) {
	t.Helper()
	l := must.Get(net.Listen("tcp", a.address))(t)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.address, a.listener = l.Addr().String(), l
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			a.serve(l, conn)
		}
	}()
}

// cut ends the connection and refuses others.
func (a *adapter) cut() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.listener != nil {
		a.listener.Close()
		a.listener = nil
	}
	if a.conn != nil {
		a.conn.Close()
	}
}

// interrupts cuts the connection of a robot that p drives, and mends it: the robot stands, comes
// back without moving by itself, and p drives it again.
func (a *adapter) interrupts(t *testing.T, s *server, p *peer, r *robot.Robot) {
	t.Helper()
	const back = retry.LogBack
	before := strings.Count(s.Output.String(), back)
	a.cut()
	s.Await(t, retry.LogUnavailable)
	waiting.Until(t, "standstill", func() bool { state := r.State(); return state.Left == 0 && state.WantLeft == 0 })
	a.mend(t)
	waiting.Until(t, back, func() bool { return strings.Count(s.Output.String(), back) > before })
	if state := r.State(); state.Left != 0 || state.WantLeft != 0 {
		t.Errorf("it moves by itself: %+v", state)
	}
	p.drivesOff(r)
}

func (a *adapter) serve(l net.Listener, conn net.Conn) {
	defer conn.Close()
	a.mu.Lock()
	late := a.listener != l
	a.conn = conn
	a.mu.Unlock()
	tty, err := serialport.Open(a.path, a.baud)
	if late || err != nil {
		return
	}
	file := os.NewFile(uintptr(tty.Fd()), a.path)
	defer file.Close()
	defer serialport.Unlock(tty)
	go func() {
		_, _ = io.Copy(conn, file) // ends with the line or the connection
		conn.Close()
	}()
	_, _ = io.Copy(file, conn)
}

// A Pioneer behind three adapters, by the flags of the manual. Each is cut and comes back as
// a plugged cable does, without any action of the client, and without moving by itself.
func TestPioneerOverTCP(t *testing.T) {
	t.Parallel()
	r, l, c := startRobot(t, robot.Options{}), startLaser(t, laser.Options{}), startCamera(t, sony.Options{})
	base, scanner, camera := overTCP(t, r.Port(), 9600), overTCP(t, l.Port(), 9600), overTCP(t, c.Port(), 9600)
	_, port, _ := net.SplitHostPort(base.address)
	s := start(t, "-pp", "localhost:"+port, "-lp", scanner.address, "-zp", camera.address)
	p := s.dial(t)
	p.mustOpen("palrza", "palrza")
	p.untilPoints(30, 10, 512)
	p.drivesOff(r)

	scanner.cut()
	s.Await(t, scanner.address)
	var far [laser.Values]uint16
	for i := range far {
		far[i] = 4321
	}
	l.SetRanges(far)
	scanner.mend(t)
	p.laserReads(4321)

	camera.cut()
	s.Await(t, camera.address)
	camera.mend(t)
	p.untilPoints(-20, 5, 100)

	base.interrupts(t, s, p, r)
	s.Await(t, base.address)
	s.stop(t)
	checkFarewell(t, r)
}

// The worked example of docs/devices/network.md with the real ser2net: found, driven, cut, back, and stopped
// by last words when the server is killed.
func TestSer2net(t *testing.T) {
	t.Parallel()
	program := needs.Program(t, "ser2net")
	r, l := startRobot(t, robot.Options{}), startLaser(t, laser.Options{})
	page := must.Get(os.ReadFile("../docs/devices/network.md"))(t)
	_, yaml, ok := strings.Cut(string(page), "```yaml\n")
	yaml, _, whole := strings.Cut(yaml, "```")
	if !ok || !whole {
		t.Fatal("docs/devices/network.md has no example")
	}
	first, second := ports.Free(t, 1), ports.Free(t, 1)
	example := strings.NewReplacer("192.168.1.20,4001", fmt.Sprintf("127.0.0.1,%d", first), "192.168.1.20,4002", fmt.Sprintf("127.0.0.1,%d", second),
		"/dev/ttyUSB0", r.Port(), "/dev/ttyUSB1", l.Port())
	file := write(t, t.TempDir(), "ser2net.yaml", example.Replace(yaml))
	serve := func() (end func()) {
		p := programs.Start(t, exec.Command(program, "-n", "-d", "-c", file)) // -d: messages are printed
		waiting.Until(t, "ser2net listens", func() bool {
			if p.Printed("Unable to find a valid name on the name server") {
				needs.Missing(t, "ser2net finds no address, not even 127.0.0.1, on a computer without a network")
			}
			return !isFree(second)
		})
		return func() { p.End(t, os.Kill) }
	}
	cut := serve()
	base, scanner := fmt.Sprintf("127.0.0.1:%d", first), fmt.Sprintf("127.0.0.1:%d", second)
	findsAll(t, []string{base + ": p2os", scanner + ": sicklms200"}, []string{fmt.Sprintf("port %q", base), fmt.Sprintf("port %q", scanner)}, base, scanner)

	s, c := launch{}.driving(t, r, "-pp", base, "-lp", scanner)
	c.mustOpen("lr", "lr")
	cut()
	s.Await(t, retry.LogUnavailable)
	waiting.Until(t, "standstill", func() bool { state := r.State(); return state.Left == 0 && state.WantLeft == 0 })
	serve()
	s.Await(t, retry.LogBack)
	c.drivesOff(r)
	s.guard(t)
	s.Signal(t, syscall.SIGKILL)
	<-s.Ended
	waiting.Until(t, "last words", func() bool { return bytes.HasSuffix(r.Heard(line.HostToDevice), farewell) })
}

// Last words also go over TCP.
func TestGuardOverTCP(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	a := overTCP(t, r.Port(), 9600)
	s, _ := launch{}.driving(t, r, "-pp", a.address)
	s.guard(t)
	s.Signal(t, syscall.SIGKILL)
	<-s.Ended
	stood(t, r)
	waiting.Until(t, "last words", func() bool { return bytes.HasSuffix(r.Heard(line.HostToDevice), farewell) })
}

// hardware is one of each kind with a serial line, by the name of its driver.
type hardware struct {
	port string
	baud int
}

func oneOfEach(t *testing.T) map[string]hardware {
	t.Helper()
	cable := func() line.Options { return line.Options{Link: newLine(t)} }
	return map[string]hardware{
		"p2os":       {startRobot(t, robot.Options{Line: line.Options{Baud: 38400}}).Port(), 38400},
		"sicklms200": {startLaser(t, laser.Options{}).Port(), 9600},
		"evid30":     {startCamera(t, sony.Options{}).Port(), 9600},
		"create":     {emulate(t, create.Start, create.Options{Line: cable()}).Port(), 115200},
		"rplidar":    {emulate(t, rplidar.Start, rplidar.Options{Line: cable()}).Port(), 115200},
		"urg":        {emulate(t, urg.Start, urg.Options{Line: cable()}).Port(), 19200},
		"ldlidar":    {emulate(t, ldlidar.Start, ldlidar.Options{Line: cable()}).Port(), 230400},
		"kobuki":     {emulate(t, kobuki.Start, kobuki.Options{Line: cable()}).Port(), 115200},
		"ydlidar":    {emulate(t, ydlidar.Start, ydlidar.Options{Model: ydlidar.G4, Line: cable()}).Port(), 230400},
	}
}

// Robots work behind an adapter, which keeps the speed that it was given. In simulated time the others do.
func TestRobotsOverTCP(t *testing.T) {
	t.Parallel()
	each := oneOfEach(t)
	for _, name := range []string{"create", "kobuki"} {
		a := overTCP(t, each[name].port, each[name].baud)
		c := serve(t, "driver ( name %q provides [\"position:0\"] port %q )", name, a.address).dial(t)
		c.mustOpen("yrpr", "yrpr")
		c.until("new data", func() bool { return c.age() < time.Second })
	}
}

func TestFindOverTCP(t *testing.T) {
	t.Parallel()
	var ports, names, drivers []string
	for name, h := range oneOfEach(t) {
		a := overTCP(t, h.port, h.baud)
		ports, names = append(ports, a.address), append(names, a.address+": "+name)
		drivers = append(drivers, fmt.Sprintf("port %q", a.address))
	}
	for model, o := range map[string]sickcola.Options{
		"TiM551 V2.50-10.04.13": {}, "LMS10x_FieldEval V1.36-21.10.2010": {Model: sickcola.LMS111, Binary: true},
	} {
		address := emulate(t, sickcola.Start, o).Address()
		ports, names = append(ports, address), append(names, fmt.Sprintf("%s: sickcola, SICK %s\n", address, model))
		drivers = append(drivers, fmt.Sprintf("port %q", address))
	}
	findsAll(t, names, drivers, ports...)
}

// Where nothing listens, player find says so, with the remedy.
func TestRefusedOverTCP(t *testing.T) {
	t.Parallel()
	address := fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1))
	want := address + ": connection refused: is the device on, or ser2net running, and the port right?"
	if code, _, said := finds(t, address); code == 0 || !strings.Contains(said, want) {
		t.Errorf("find: exit %d, %s", code, said)
	}
}
