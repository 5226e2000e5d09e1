package stage

// forest is a union-find: numbers from 0 in sets, each of which has its smallest number as root.
// The value of a number is a number of its set that is nearer to the root, and of the root its own.
type forest []int32

// add adds a set with the next number.
func (f *forest) add() { *f = append(*f, int32(len(*f))) }

// root returns the root of the set of a number.
func (f forest) root(i int32) int32 {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

// join makes one set of those of two numbers, and returns its root.
func (f forest) join(a, b int32) int32 {
	a, b = f.root(a), f.root(b)
	f[max(a, b)] = min(a, b)
	return min(a, b)
}
