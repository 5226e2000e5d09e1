// Package foxglove has the formats of Foxglove and viewers like it: the schemas of package telemetry's messages, and the
// messages of its WebSocket protocol. It has no files and no sockets.
package foxglove

import (
	"encoding/json"
	"reflect"
	"strings"

	"player/formats/telemetry"
)

// Schema describes the messages of a topic.
type Schema struct {
	Name string // "foxglove.LaserScan"; our own names begin with "player."
	Text []byte // JSON Schema (https://json-schema.org)
}

// Messages returns the description of messages with the schema that viewers get.
func (s Schema) Messages() Messages { return Messages{Encoding, s.Name, "jsonschema", string(s.Text)} }

// SchemaOf returns the schema of a message's type, made of its fields.
func SchemaOf(message any) Schema {
	t := reflect.TypeOf(message)
	space := "player."
	switch message.(type) {
	case telemetry.LaserScan, telemetry.PoseInFrame, telemetry.FrameTransform, telemetry.SceneUpdate, telemetry.Log,
		telemetry.CompressedImage, telemetry.CameraCalibration, telemetry.LocationFix, telemetry.PointCloud:
		space = "foxglove."
	}
	text, err := json.Marshal(describe(t))
	if err != nil {
		panic(err) // a type that JSON does not have
	}
	return Schema{space + t.Name(), text}
}

// description is a part of a JSON Schema.
type description struct {
	Type       string                  `json:"type"`
	Properties map[string]*description `json:"properties,omitzero"`
	Required   []string                `json:"required,omitempty"`
	Items      *description            `json:"items,omitempty"`
	Content    string                  `json:"contentEncoding,omitempty"`
}

func describe(t reflect.Type) *description {
	switch t.Kind() {
	case reflect.Bool:
		return &description{Type: "boolean"}
	case reflect.String:
		return &description{Type: "string"}
	case reflect.Float64:
		return &description{Type: "number"}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &description{Type: "string", Content: "base64"}
		}
		return &description{Type: "array", Items: describe(t.Elem())}
	case reflect.Struct:
		d := &description{Type: "object", Properties: map[string]*description{}}
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if name == "-" {
				continue // it is not sent
			}
			d.Properties[name] = describe(t.Field(i).Type)
			d.Required = append(d.Required, name)
		}
		return d
	}
	return &description{Type: "integer"}
}
