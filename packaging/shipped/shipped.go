// Package shipped is how the server is built that people get: the packages and the
// benchmark use the same flags.
package shipped

// cold are packages of the standard library that only pages, certificates and
// configurations need. Without inlining they are 330 kB smaller. Whatever takes part in
// serving a plain frame is not among them; nor are the ciphers of TLS. Inlining is a
// property of the package that is called: encoding/binary must keep it.
var cold = [...]string{
	"crypto/ecdsa", "crypto/hpke", "crypto/internal/fips140/ecdsa", "crypto/internal/fips140/mlkem",
	"crypto/internal/fips140/rsa", "crypto/rsa", "crypto/tls", "crypto/x509", "encoding/asn1", "encoding/base64", "encoding/hex",
	"encoding/json", "encoding/pem", "image/...", "math/big",
	"mime/...", "net/http/...", "net/textproto", "net/url", "vendor/golang.org/x/net/...", "vendor/golang.org/x/text/...",
}

// Flags are those of go build, but for the linker's. CGO_ENABLED=0 belongs to them.
// Without HTTP/2, which no page of ours needs, the binary is 370 kB smaller.
func Flags() []string {
	flags := []string{"-tags=nethttpomithttp2", "-trimpath"}
	for _, p := range cold {
		flags = append(flags, "-gcflags="+p+"=-l")
	}
	return flags
}
