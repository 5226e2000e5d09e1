package bridge

import (
	"encoding/binary"
	"math"
	"testing"
)

// planOf returns a plan with some bytes of cells.
func planOf(x, y, cell float64, width, height uint32, cells int) []byte {
	var b []byte
	for _, v := range []float64{x, y, cell} {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
	}
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, width), height)
	return append(b, make([]byte, cells)...)
}

func TestCheckPlan(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		plan []byte
		ok   bool
	}{
		"a plan":        {planOf(-1, 2, 0.02, 9, 3, 6), true},
		"the largest":   {planOf(0, 0, 1, 2048, 2048, 2048*2048/8), true},
		"nothing":       {nil, false},
		"half a header": {planOf(0, 0, 1, 1, 1, 0)[:31], false},
		"no cells":      {planOf(0, 0, 1, 0, 0, 0), false},
		"too short":     {planOf(0, 0, 1, 9, 3, 5), false},
		"too long":      {planOf(0, 0, 1, 9, 3, 7), false},
		"overflow":      {planOf(0, 0, 1, math.MaxUint32, math.MaxUint32, 8), false},
		"too large":     {planOf(0, 0, 1, 1, 1<<21, 1<<21), false},
		"nowhere":       {planOf(math.NaN(), 0, 1, 8, 1, 1), false},
		"far":           {planOf(0, math.Inf(1), 1, 8, 1, 1), false},
		"no scale":      {planOf(0, 0, 0, 8, 1, 1), false},
		"endless cells": {planOf(0, 0, math.Inf(1), 8, 1, 1), false},
		"turned cells":  {planOf(0, 0, -1, 8, 1, 1), false},
	} {
		if err := CheckPlan(c.plan); (err == nil) != c.ok {
			t.Errorf("%s: %v", what, err)
		}
	}
}
