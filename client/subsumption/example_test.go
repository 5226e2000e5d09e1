package subsumption_test

import (
	"fmt"
	"time"

	"player/client/subsumption"
)

// The four-layer robot of docs/SUBSUMPTION.md, layer by layer.

func cruiser() *subsumption.Stack {
	return subsumption.New(
		subsumption.NewLayer("cruise", subsumption.Cruise{}),
	)
}

func ExampleCruise() {
	fmt.Println(try(cruiser()))
	// Output: cruise; at the light: false
}

func moth() *subsumption.Stack {
	return subsumption.New(
		subsumption.NewLayer("photo", subsumption.Photo{}),
		subsumption.NewLayer("cruise", subsumption.Cruise{}),
	)
}

func ExamplePhoto() {
	fmt.Println(try(moth()))
	// Output: photo cruise; at the light: false
}

func carefulMoth() *subsumption.Stack {
	return subsumption.New(
		subsumption.NewLayer("ir", &subsumption.IR{}),
		subsumption.NewLayer("photo", subsumption.Photo{}),
		subsumption.NewLayer("cruise", subsumption.Cruise{}),
	)
}

func ExampleIR() {
	fmt.Println(try(carefulMoth()))
	// Output: photo cruise ir; at the light: false
}

func sturdyMoth() *subsumption.Stack {
	return subsumption.New(
		subsumption.NewLayer("bump", &subsumption.Bump{}),
		subsumption.NewLayer("ir", &subsumption.IR{}),
		subsumption.NewLayer("photo", subsumption.Photo{}),
		subsumption.NewLayer("cruise", subsumption.Cruise{}),
	)
}

func ExampleBump() {
	fmt.Println(try(sturdyMoth()))
	// Output: photo cruise ir bump; at the light: true
}

// Follow keeps half a metre behind an object that moves ahead of the robot.
type Follow struct{}

func (Follow) Act(now time.Duration, s *subsumption.Sensors, to subsumption.Signals) subsumption.Output {
	room := s.Ahead() // mm
	if room > 1500 {
		return subsumption.Output{} // nothing ahead: no flag
	}
	return subsumption.Output{Speed: room - 500, Flag: true}
}

func ExampleBehavior() {
	stack := subsumption.New(
		subsumption.NewLayer("bump", &subsumption.Bump{}),
		subsumption.NewLayer("follow", Follow{}),
		subsumption.NewLayer("stop", subsumption.Stop{}),
	)
	stack.Motor.Accel = 0 // show the layer's output without acceleration
	s := subsumption.NewSensors()
	fmt.Println(stack.Cycle(0, &s), stack.Winner().Name)
	s.Range[3] = 700 // a person in front of it
	fmt.Println(stack.Cycle(50*time.Millisecond, &s), stack.Winner().Name)
	// Output:
	// {0 0} stop
	// {200 0} follow
}

func ExampleStack_Switch() {
	perimeter := subsumption.NewLayer("perimeter", &subsumption.Perimeter{})
	prowl := subsumption.NewLayer("prowl", &subsumption.Prowl{})
	stop := subsumption.NewLayer("stop", subsumption.Stop{})
	stack := subsumption.New(perimeter, prowl, stop)

	s := subsumption.NewSensors()
	s.Range[0] = 600 // a wall to the left
	stack.Cycle(0, &s)
	fmt.Println(stack.Winner().Name)

	stack.Switch(prowl, stop) // another job: perimeter still runs, but cannot win
	stack.Cycle(50*time.Millisecond, &s)
	fmt.Println(stack.Winner().Name)
	// Output:
	// perimeter
	// prowl
}

func ExampleLayer() {
	cruise := subsumption.NewLayer("cruise", subsumption.Cruise{})
	ir := subsumption.NewLayer("ir", &subsumption.IR{})
	stack := subsumption.New(ir, cruise)

	cruise.Inverted = true // a pet: it moves when something disturbs it
	s := subsumption.NewSensors()
	stack.Cycle(0, &s)
	fmt.Println(stack.Winner().Name, stack.Winner().Speed)

	s.Range[2] = 300 // a foot comes near
	stack.Cycle(50*time.Millisecond, &s)
	fmt.Println(stack.Winner().Name, stack.Winner().Speed, stack.Winner().Turn)
	// Output:
	// cruise 0
	// ir 150 -40
}
