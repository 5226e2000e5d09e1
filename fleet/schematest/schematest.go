// Package schematest checks messages by the JSON schemas of the fleet, in tests.
package schematest

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Compile returns a function that checks a message by a schema.
func Compile(t testing.TB, schema []byte) (valid func(message []byte) error) {
	t.Helper()
	return compile(t, parse(t, schema))
}

// CompileStrict is Compile, and fields that the schema does not have are errors, though
// readers of messages must skip them.
func CompileStrict(t testing.TB, schema []byte) (valid func(message []byte) error) {
	t.Helper()
	parsed := parse(t, schema)
	forbid(parsed)
	return compile(t, parsed)
}

func parse(t testing.TB, schema []byte) any {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// forbid closes all objects whose fields are known.
func forbid(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, known := s["properties"]; known {
			s["additionalProperties"] = false
		}
		for _, v := range s {
			forbid(v)
		}
	case []any:
		for _, v := range s {
			forbid(v)
		}
	}
}

func compile(t testing.TB, parsed any) (valid func(message []byte) error) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema")
	if err != nil {
		t.Fatal(err)
	}
	return func(message []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(message))
		if err != nil {
			return err
		}
		return schema.Validate(v)
	}
}
