package devices

// Hide takes the device of a letter from the clients, so that a virtual device that
// works on it can be attached in its place: its Spec.Index becomes the first free
// one. It returns the device, nil if there is none. Call it before the robot is
// served.
func (t *Table) Hide(letter byte) *Device {
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
