// Package shipped has the flags with which the released server is built. The packages
// and the benchmark use the same.
package shipped

// cold are packages that only pages, viewers, tools, handshakes, configurations and lines
// of the log need. Without inlining they are 550 kB smaller. Packages that serve a plain
// frame are not among them, nor are the ciphers of TLS. Inlining is a property of the
// package that is called: encoding/binary must keep it.
var cold = [...]string{
	"context", "flag", "fmt", "log", "net", "os/exec", "reflect",
	"crypto/ecdsa", "crypto/hpke", "crypto/rsa", "crypto/tls", "crypto/x509",
	"crypto/internal/fips140/bigmod", "crypto/internal/fips140/check", "crypto/internal/fips140/ecdsa",
	"crypto/internal/fips140/ed25519", "crypto/internal/fips140/edwards25519/...", "crypto/internal/fips140/mlkem",
	"crypto/internal/fips140/rsa", "crypto/internal/fips140/sha3",
	"encoding/asn1", "encoding/base64", "encoding/hex", "encoding/json", "encoding/pem", "image/...", "math/big",
	"mime/...", "net/http/...", "net/textproto", "net/url", "vendor/golang.org/x/net/...", "vendor/golang.org/x/text/...",
	"github.com/coder/websocket/...", "github.com/klauspost/compress/...", "go.uber.org/zap/...",
	"player/config", "player/config/migrate", "player/config/syntax", "player/foxglove/...", "player/tools/...", "player/web",
}

// Flags returns the flags of go build without those of the linker. CGO_ENABLED=0 belongs
// to them.
// Without HTTP/2, which no page of ours needs, the binary is 370 kB smaller.
func Flags() []string {
	flags := []string{"-tags=nethttpomithttp2", "-trimpath"}
	for _, p := range cold {
		flags = append(flags, "-gcflags="+p+"=-l")
	}
	return flags
}
