// Package assert is empty. Tests of other modules name it, so "go mod tidy" looks
// for it.
package assert
