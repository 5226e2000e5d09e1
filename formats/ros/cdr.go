package ros

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
)

// encapsulation is the header of a message: plain CDR, little-endian (OMG DDSI-RTPS 2.5,
// 10.2). Alignment counts from behind it.
var encapsulation = [4]byte{0, 1, 0, 0}

// AppendCDR appends a message of this package in CDR (XCDR1): numbers at multiples of
// their size, strings with their length and a zero, sequences with their length.
func AppendCDR(dst []byte, message any) []byte {
	dst = append(dst, encapsulation[:]...)
	return appendCDR(dst, len(dst), reflect.ValueOf(message))
}

// appendCDR appends a value. The message begins at start.
func appendCDR(dst []byte, start int, v reflect.Value) []byte {
	le := binary.LittleEndian
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			dst = appendCDR(dst, start, v.Field(i))
		}
		return dst
	case reflect.Slice:
		dst = le.AppendUint32(align(dst, start, 4), uint32(v.Len()))
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return append(dst, v.Bytes()...)
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			dst = appendCDR(dst, start, v.Index(i))
		}
		return dst
	case reflect.String:
		dst = le.AppendUint32(align(dst, start, 4), uint32(v.Len()+1))
		return append(append(dst, v.String()...), 0)
	case reflect.Bool:
		if v.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case reflect.Uint8:
		return append(dst, byte(v.Uint()))
	case reflect.Int8:
		return append(dst, byte(v.Int()))
	case reflect.Uint16:
		return le.AppendUint16(align(dst, start, 2), uint16(v.Uint()))
	case reflect.Int32:
		return le.AppendUint32(align(dst, start, 4), uint32(v.Int()))
	case reflect.Uint32:
		return le.AppendUint32(align(dst, start, 4), uint32(v.Uint()))
	case reflect.Float32:
		return le.AppendUint32(align(dst, start, 4), math.Float32bits(float32(v.Float())))
	case reflect.Float64:
		return le.AppendUint64(align(dst, start, 8), math.Float64bits(v.Float()))
	}
	panic("no message of this package has a field of type " + v.Type().String())
}

// align appends zeros up to a multiple of size.
func align(dst []byte, start, size int) []byte {
	for (len(dst)-start)%size != 0 {
		dst = append(dst, 0)
	}
	return dst
}

// definition is a message as ROS describes it.
type definition struct {
	name string // "sensor_msgs/msg/LaserScan"
	text string // as of ros2msg, with all messages that it has in it
}

// definitions describes all messages of this package, by their type. It takes milliseconds, once.
var definitions = sync.OnceValue(func() map[reflect.Type]definition {
	owner := map[reflect.Type]string{}
	for pkg, messages := range packages() {
		for _, m := range messages {
			owner[reflect.TypeOf(m)] = pkg
		}
	}
	all := map[reflect.Type]definition{}
	for t, pkg := range owner {
		all[t] = definition{pkg + "/msg/" + t.Name(), describe(t, owner)}
	}
	return all
})

// Schema returns the definition in ros2msg of a message of this package, as
// "sensor_msgs/msg/LaserScan", or nothing if there is none.
func Schema(name string) string {
	for _, d := range definitions() {
		if d.name == name {
			return d.text
		}
	}
	return ""
}

// describe returns the fields of a message, and then the fields of each message in it, once,
// after a line of "=" and the message's name.
func describe(message reflect.Type, owner map[reflect.Type]string) string {
	var b strings.Builder
	list := []reflect.Type{message} // grows
	known := map[reflect.Type]bool{message: true}
	for i := 0; i < len(list); i++ {
		if i > 0 {
			fmt.Fprintf(&b, "%s\nMSG: %s/%s\n", strings.Repeat("=", 80), owner[list[i]], list[i].Name())
		}
		for _, field := range reflect.VisibleFields(list[i]) {
			of, suffix := field.Type, ""
			switch of.Kind() {
			case reflect.Slice:
				of, suffix = of.Elem(), "[]"
			case reflect.Array:
				of, suffix = of.Elem(), fmt.Sprintf("[%d]", of.Len())
			}
			name := of.Kind().String()
			if kind := field.Tag.Get("type"); kind != "" {
				name = kind
			}
			if of.Kind() == reflect.Struct {
				name = owner[of] + "/" + of.Name()
				if !known[of] {
					known[of] = true
					list = append(list, of)
				}
			}
			fmt.Fprintf(&b, "%s%s %s\n", name, suffix, fieldName(field))
		}
	}
	return b.String()
}

// fieldName returns the name that a field has in ROS.
func fieldName(f reflect.StructField) string {
	if name := f.Tag.Get("ros"); name != "" {
		return name
	}
	return strings.ToLower(f.Name)
}
