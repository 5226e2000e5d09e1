package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"player/client"
	"player/codec"
	"player/codec/peertext"
	"player/devices"
)

// Device is one device of a robot that a subcommand reads.
type Device struct {
	Code byte // on the wire
	Spec devices.Spec
}

// Name returns the name of the device in output: its interface, and its index if that is not 0.
func (d Device) Name() string {
	if d.Spec.Index == 0 {
		return d.Spec.Name
	}
	return d.Spec.Address()
}

// CheckDevices returns an error unless text names devices that are only read: pairs of a letter and r, "lrsr", or names
// separated by commas, "imu,laser:1".
func CheckDevices(text string) error {
	switch {
	case isPairs(text):
		return nil
	case asksForMore(text):
		return fmt.Errorf("%q: the devices are only read, for example srlr for sonar and laser", text)
	}
	for name := range strings.SplitSeq(text, ",") {
		iface, _, ok := codec.ParseAddress(name)
		if !ok || !slices.ContainsFunc(devices.Interfaces(), func(s devices.Spec) bool { return s.Name == iface }) {
			return fmt.Errorf("%q: write the devices as pairs of a letter and r, for example srlr for sonar and laser, or by name: laser:1,imu", text)
		}
	}
	return nil
}

// asksForMore reports whether text is pairs of which some do more than read, or read the server itself.
func asksForMore(text string) bool {
	for i := 1; i < len(text); i += 2 {
		if !strings.ContainsRune("rwac", rune(text[i])) {
			return false
		}
	}
	return len(text) > 0 && len(text)%2 == 0
}

func isPairs(text string) bool {
	for i := 0; i+1 < len(text); i += 2 {
		if text[i+1] != codec.AccessRead || text[i] == codec.Server {
			return false
		}
	}
	return len(text) > 0 && len(text)%2 == 0
}

// Choose returns the devices that text names, each once. It asks the server for devices by name.
func Choose(ctx context.Context, c *client.Client, text string) (chosen []Device, err error) {
	if isPairs(text) {
		for i := 0; i < len(text); i += 2 {
			chosen = append(chosen, Device{text[i], lettered(text[i])})
		}
		return unique(chosen), nil
	}
	all, err := All(ctx, c)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(text, ",") {
		iface, index, _ := codec.ParseAddress(name)
		i := slices.IndexFunc(all, func(d Device) bool { return d.Spec.Name == iface && d.Spec.Index == index })
		if i < 0 {
			var there []string
			for _, d := range all {
				there = append(there, d.Name())
			}
			return nil, fmt.Errorf("the robot has no %s:%d, only %s", iface, index, strings.Join(there, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return unique(chosen), nil
}

// All returns the devices of a robot. Of a server that cannot list them, it returns those that have a letter.
func All(ctx context.Context, c *client.Client) (all []Device, err error) {
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	entries, err := c.Devices(limited)
	if err == client.ErrUnknownQuestion {
		for _, spec := range devices.Lettered() {
			all = append(all, Device{spec.Letter, spec})
		}
		return all, nil
	}
	for _, e := range entries {
		spec := devices.Spec{Name: e.Interface}
		if i := slices.IndexFunc(devices.Interfaces(), func(s devices.Spec) bool { return s.Name == e.Interface }); i >= 0 {
			spec = devices.Interfaces()[i]
		}
		all = append(all, Device{e.Code, spec.At(e.Index)})
	}
	return all, err
}

// Pairs returns the request that opens the devices for reading.
func Pairs(list []Device) string {
	var request []byte
	for _, d := range list {
		request = append(request, d.Code, codec.AccessRead)
	}
	return string(request)
}

func unique(list []Device) (each []Device) {
	for _, d := range list {
		if !slices.ContainsFunc(each, func(o Device) bool { return o.Code == d.Code }) {
			each = append(each, d)
		}
	}
	return each
}

// lettered returns the declaration of the device with a letter. An unknown one has the letter for a name.
func lettered(letter byte) devices.Spec {
	for _, spec := range devices.Interfaces() {
		if spec.Letter == letter {
			return spec
		}
	}
	return devices.Spec{Letter: letter, Name: peertext.Line(string(rune(letter)))}
}
