// Package shipped has the flags with which the released server is built. The packages
// and the benchmark use the same.
package shipped

// Flags returns the flags of go build without the linker's. CGO_ENABLED=0 belongs
// to them.
// Without HTTP/2, which no page of ours needs, the binary is 370 kB smaller. Functions of
// packages that only connections, certificates, files, pages and the log need, not frames, are
// not inlined: that is 380 kB. The ciphers are in other packages.
func Flags() []string {
	flags := []string{"-tags=nethttpomithttp2", "-trimpath"}
	for _, cold := range []string{
		"net", "net/http", "crypto/tls", "crypto/x509", "encoding/asn1", "encoding/json", "math/big",
		"go.uber.org/zap/zapcore", "reflect", "player/formats/syntax", "player/visitors/dashboard",
	} {
		flags = append(flags, "-gcflags="+cold+"=-l")
	}
	return flags
}

// Link returns the flags of the linker for a processor. On amd64 functions begin at multiples of 16 bytes instead of 32,
// as on arm64: the binary is 110 kB smaller.
func Link(arch string) string {
	if arch == "amd64" {
		return "-s -w -funcalign=16"
	}
	return "-s -w"
}
