package scan

// minReadings is the number of readings that make a sweep of the front half: at its
// edges single readings change places. The slowest sensor has 180.
const minReadings = 30

// Revolution cuts the readings of a sensor that rotates continuously into scans of the front
// half, from one edge to the other.
type Revolution struct {
	Scan

	inside int  // readings of the front half in this sweep
	whole  bool // the sweep began outside of the front half
	ended  bool // the next reading begins a sweep
}

// Begin forgets all readings. Readings may be added after it.
func (t *Revolution) Begin() { *t = Revolution{Scan: Scan{Mount: t.Mount}, ended: true} }

// Add adds a reading as Scan.Add does. It reports whether a complete sweep has ended: until
// the next reading Append appends it.
func (t *Revolution) Add(degrees float64, mm int) (whole bool) {
	if t.ended {
		t.Clear()
		t.ended = false
	}
	if t.Scan.Add(degrees, mm) {
		t.inside++
		return false
	}
	if t.inside < minReadings { // one reading may lie before the others
		t.whole = t.whole || t.inside == 0
		return false
	}
	whole = t.whole
	t.inside, t.whole, t.ended = 0, true, true
	return whole
}
