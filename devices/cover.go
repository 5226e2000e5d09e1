package devices

// Cover takes the device of a letter out of the clients' sight, so that a driver
// which is attached next can stand before it: its Spec.Index becomes the first
// that is free. It returns the device, nil if there is none. It is called before
// the robot is served.
func (t *Table) Cover(letter byte) *Device {
	d := t.letters[letter]
	if d == nil {
		return nil
	}
	index := 1
	for t.Find(letter, index) != nil {
		index++
	}
	d.spec.Index = index
	t.letters[letter] = nil
	return d
}
