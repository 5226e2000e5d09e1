package visitors

import "fmt"

// Recovered calls fn, and makes an error of a panic: it ends a page, and not the
// server with its robots. net/http does the same for the goroutines that it starts.
func Recovered(fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return fn()
}
