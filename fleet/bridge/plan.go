package bridge

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	// planHeader is the size of the fields before the cells, in bytes.
	planHeader = 3*8 + 2*4
	// maxCells is the most cells of a plan: those that a dashboard sends.
	maxCells = 1 << 22
	// MaxPlan is the largest plan, in bytes: rows are whole bytes, and a plan may have one
	// cell in each. It fits a message of NATS, which has 1 MiB by default.
	MaxPlan = 1 << 20
	// maxCell is the longest side of a cell, in m.
	maxCell = 1000
)

// CheckPlan returns an error for bytes that are not a floor plan as GET /plan of a dashboard
// replies, all big-endian: f64 x and y of the lower left corner and f64 length of a cell, in m;
// u32 width and height in cells; a bit for each cell, 1 is a wall, rows from below, each in
// whole bytes.
func CheckPlan(plan []byte) error {
	if len(plan) < planHeader || len(plan) > MaxPlan {
		return fmt.Errorf("a floor plan has %d bytes", len(plan))
	}
	number := func(i int) float64 { return math.Float64frombits(binary.BigEndian.Uint64(plan[8*i:])) }
	if err := (Origin{X: number(0), Y: number(1)}).Check(); err != nil {
		return fmt.Errorf("a floor plan: %w", err)
	}
	if cell := number(2); !(cell > 0 && cell <= maxCell) {
		return fmt.Errorf("a floor plan has cells of %g m", cell)
	}
	width, height := uint64(binary.BigEndian.Uint32(plan[24:])), uint64(binary.BigEndian.Uint32(plan[28:]))
	if width == 0 || height == 0 || width*height > maxCells || uint64(len(plan)) != planHeader+(width+7)/8*height {
		return errors.New("a floor plan has another size than its cells need")
	}
	return nil
}

// PlanDigest returns 16 hexadecimal digits that distinguish plans.
func PlanDigest(plan []byte) string {
	sum := sha256.Sum256(plan)
	return hex.EncodeToString(sum[:8])
}

// KnownPlans is the body of a request for a plan: the digests of those that the sender has.
func KnownPlans(digests []string) []byte { return []byte(strings.Join(digests, " ")) }

// KnowsPlan reports whether the sender of a request has a plan.
func KnowsPlan(body []byte, digest string) bool {
	return slices.Contains(strings.Fields(string(body)), digest)
}
