package bridge

import (
	"reflect"

	"player/codec"
)

// In JSON a field that the hardware does not measure is null: programs cannot take it for a number.

// unless returns a pointer to a value, or nil if it is the one that means that it is not known.
func unless[T comparable](v, unknown T) *T {
	if v == unknown {
		return nil
	}
	return &v
}

// known is unless for a number with a sign.
func known(v int32) *int32 { return unless(v, codec.Unknown) }

// amount is unless for a number without a sign.
func amount(v uint32) *uint32 { return unless(v, codec.UnknownAmount) }

// joint is a joint of a servo device.
type joint struct {
	Position *int32 `json:"position"` // in the unit of the joint
	Goal     *int32 `json:"goal"`
	State    uint8  `json:"state"` // bits of PROTOCOL 7.13
}

// measured returns the fields of IMUData or GPSData by their names in JSON. All fields of one type have one value that
// means "not known".
func measured(data any) map[string]any {
	fields := map[string]any{}
	d := reflect.ValueOf(data).Elem()
	for i := range d.NumField() {
		var value any
		switch v := d.Field(i).Interface().(type) {
		case int32:
			value = known(v)
		case uint32:
			value = amount(v)
		case uint8:
			value = unless(v, codec.UnknownSatellites)
		case codec.Fix:
			value = unless(v, codec.UnknownFix)
		case uint64:
			value = unless(v, 0) // the time
		}
		fields[d.Type().Field(i).Tag.Get("json")] = value
	}
	return fields
}

func gotoFields(d *codec.GotoData) any {
	return struct {
		State    codec.GotoState  `json:"state"`
		Reason   codec.GotoReason `json:"reason"`
		Tag      uint16           `json:"tag"`
		X        *int32           `json:"x_mm"`
		Y        *int32           `json:"y_mm"`
		Heading  *uint16          `json:"heading_deg"`
		Distance *uint32          `json:"distance_mm"`
	}{d.State, d.Reason, d.Tag, known(d.X), known(d.Y), unless(d.Heading, codec.AnyHeading), amount(d.Distance)}
}
