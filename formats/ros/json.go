package ros

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
)

// AppendJSON appends a message of this package as rosbridge writes it: an object with the
// fields of ROS, null for values that JSON lacks (NaN and infinite), bytes in base64.
func AppendJSON(dst []byte, message any) []byte { return appendJSON(dst, reflect.ValueOf(message)) }

func appendJSON(dst []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Struct:
		dst = append(dst, '{')
		for i := range v.NumField() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(append(dst, '"'), fieldName(v.Type().Field(i))...), '"', ':')
			dst = appendJSON(dst, v.Field(i))
		}
		return append(dst, '}')
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v.Bytes()), '"')
		}
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, v.Index(i))
		}
		return append(dst, ']')
	case reflect.String:
		text, _ := json.Marshal(v.String()) // strings have no errors
		return append(dst, text...)
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return strconv.AppendUint(dst, v.Uint(), 10)
	case reflect.Int8, reflect.Int32:
		return strconv.AppendInt(dst, v.Int(), 10)
	case reflect.Float32, reflect.Float64:
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return append(dst, "null"...)
		}
		return strconv.AppendFloat(dst, f, 'g', -1, v.Type().Bits())
	}
	panic("no message of this package has a field of type " + v.Type().String())
}
