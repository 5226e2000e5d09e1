package devices_test

import (
	"bytes"
	"fmt"

	"player/devices"
)

// A voltmeter is recognised by its name, which it sends when it is asked for it.
func ExampleRecognise() {
	kinds := []devices.Kind{{
		Name: "voltmeter",
		Probe: &devices.Probe{
			Speeds: []int{9600},
			Ask:    []byte("?\r"),
			Recognise: func(heard []byte) devices.Answer {
				_, model, found := bytes.Cut(heard, []byte("VOLT "))
				return devices.Answer{Found: found, Model: string(bytes.TrimSpace(model))}
			},
		},
	}}
	if kind, answer := devices.Recognise(kinds, 9600, []byte("~\x00VOLT V2\r\n")); kind != nil {
		fmt.Println(kind.Name, answer.Model)
	}
	kind, _ := devices.Recognise(kinds, 9600, []byte("~\x00"))
	fmt.Println(kind == nil)
	// Output:
	// voltmeter V2
	// true
}
