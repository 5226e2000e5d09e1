// Package shipped has the flags with which the released server is built. The packages
// and the benchmark use the same.
package shipped

// Flags returns the flags of go build without those of the linker. CGO_ENABLED=0 belongs
// to them.
// Without HTTP/2, which no page of ours needs, the binary is 370 kB smaller.
func Flags() []string { return []string{"-tags=nethttpomithttp2", "-trimpath"} }

// Link returns the flags of the linker for a processor. On amd64 functions begin at multiples of 16 bytes instead of 32,
// as on arm64: the binary is 110 kB smaller.
func Link(arch string) string {
	if arch == "amd64" {
		return "-s -w -funcalign=16"
	}
	return "-s -w"
}
