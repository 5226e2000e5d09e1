package compact_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"player/codec"
	"player/codec/compact"
	"player/e2e/must"
	"player/e2e/needs"
)

var update = flag.Bool("update", false, "write testdata/golden.txt")

// golden has compact blocks, each followed by the payload that it encodes, in hex.
const golden = "testdata/golden.txt"

// expand returns the plain blocks of a compact one.
func expand(t testing.TB, block []byte) (out []byte) {
	t.Helper()
	var r compact.Reader
	r.Reset(block)
	for {
		letter, payload, ok, err := r.Next()
		if err != nil {
			t.Fatalf("% X: %v", block, err)
		}
		if !ok {
			return out
		}
		out = codec.AppendBlock(out, letter, payload)
	}
}

// goldenBlocks makes the content of the file: a frame of a driving robot with each
// amount of noise, selections, and numbers at the ends of their ranges.
func goldenBlocks(t testing.TB) string {
	var out strings.Builder
	add := func(block []byte) { fmt.Fprintf(&out, "%x\n%x\n", block, expand(t, block)) }
	random := rand.New(rand.NewPCG(1, 2))
	for i, sigma := range []float64{0, 5, 10} {
		m := drive(t)[300+200*i]
		fresh := codec.FreshnessData{Time: uint64(i) << 30, Ages: []uint32{0, 1500, codec.NoAge, codec.MaxAge, 9, 9, 9}}
		block := compact.Append(nil, codec.Server, fresh.Append(nil), codec.Scan{})
		for _, letter := range []byte("slpgmzv") {
			payload := m[letter]
			if letter == codec.Laser {
				payload = noisy(random, payload, sigma)
			}
			block = compact.Append(block, letter, payload, codec.Scan{})
		}
		add(block)
	}
	scan := drive(t)[500][codec.Laser]
	for _, s := range []codec.Scan{{Step: 1, Last: 65535, Unit: 10}, {Step: 18, First: 9, Last: 351, Unit: 50}, {Step: 1, First: 400, Last: 401, Unit: 1}} {
		add(compact.Append(nil, codec.Laser, scan, s))
	}
	var block []byte
	for _, b := range items(t)[140:] {
		if len(b.payload) <= 40 {
			block = compact.Append(block, b.letter, b.payload, codec.Scan{})
		}
	}
	add(block)
	return out.String()
}

// Older compact blocks can still be decoded, and the encoder still makes the same ones.
func TestGolden(t *testing.T) {
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(goldenBlocks(t)), 0o644))
	}
	file := must.Get(os.ReadFile(golden))(t)
	lines := strings.Fields(string(file))
	for i := 0; i+1 < len(lines); i += 2 {
		block := must.Get(hex.DecodeString(lines[i]))(t)
		want := must.Get(hex.DecodeString(lines[i+1]))(t)
		got := expand(t, block)
		if !bytes.Equal(got, want) {
			t.Errorf("line %d: % X, want % X", i+1, got, want)
		}
		var again []byte
		for rest := got; len(rest) > 0; {
			letter, payload, after, _ := codec.Block(rest)
			again = compact.Append(again, letter, payload, codec.Scan{})
			rest = after
		}
		selected := i/2 >= 3 && i/2 < 6
		if !selected && !bytes.Equal(again, block) {
			t.Errorf("line %d: it is now % X", i+1, again)
		}
	}
	if len(lines) != 14 {
		t.Errorf("%d lines", len(lines))
	}
}

// A decoder that was written from docs/PROTOCOL.md decodes our blocks.
func TestOtherLanguage(t *testing.T) {
	python := needs.Program(t, "python3")
	file := must.Get(os.ReadFile(golden))(t)
	var in, want strings.Builder
	add := func(block []byte) {
		fmt.Fprintf(&in, "%x\n", block)
		fmt.Fprintf(&want, "%x\n", expand(t, block))
	}
	lines := strings.Fields(string(file))
	for i := 0; i+1 < len(lines); i += 2 {
		in.WriteString(lines[i] + "\n")
		want.WriteString(lines[i+1] + "\n")
	}
	random := rand.New(rand.NewPCG(5, 6))
	for _, b := range items(t) {
		scan := codec.Scan{Step: uint8(1 + random.IntN(30)), First: uint16(random.IntN(400)), Last: 400, Unit: uint8(1 + random.IntN(100))}
		add(compact.Append(compact.Append(nil, b.letter, b.payload, codec.Scan{}), b.letter, b.payload, scan))
	}
	for _, bad := range []string{"6c", "6c05", "6c07", "6c0300", "7101aa", "7a05ff"} {
		in.WriteString(bad + "\n")
		want.WriteString("error\n")
	}
	cmd := exec.Command(python, "testdata/plain.py")
	cmd.Stdin = strings.NewReader(in.String())
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err, said.String())
	}
	got, expected := strings.Fields(string(out)), strings.Fields(want.String())
	if len(got) != len(expected) {
		t.Fatalf("%d lines, want %d", len(got), len(expected))
	}
	for i := range got {
		if got[i] != expected[i] {
			t.Errorf("line %d: %s, want %s", i+1, got[i], expected[i])
		}
	}
}
