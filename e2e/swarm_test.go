package e2e

import (
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/ports"
	"player/e2e/waiting"
)

// Two hundred robots of one program spread over their hall.
func TestSwarm(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	program := buildProgram(t, "examples/swarm")
	const robots = 200
	port := ports.Free(t, robots)
	launch{port: port}.start(t, "-stage", "../examples/swarm/swarm.world")
	waiting.Until(t, "all ports", func() bool { // the log has not all of their lines
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port+robots-1))
		return err == nil && conn.Close() == nil
	})
	out, err := exec.CommandContext(t.Context(), program, "-host", "127.0.0.1", "-port", strconv.Itoa(port), "-time", "20s").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var space []int
	for _, m := range regexp.MustCompile(`: (\d+) mm`).FindAllSubmatch(out, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		space = append(space, n)
	}
	if len(space) != 3 || space[2] < 2*space[0] {
		t.Errorf("the robots have not spread:\n%s", out)
	}
}
