// Package certs makes certificates for tests.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// T is the part of a *testing.T that certificates need.
type T interface {
	Helper()
	Fatal(args ...any)
	TempDir() string
}

// Authority signs certificates.
type Authority struct {
	t    T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	File string // PEM
}

// New returns an authority of a name. Its files are gone at the end of the test.
func New(t T, name string) *Authority {
	t.Helper()
	a := &Authority{t: t, key: newKey(t)}
	template := usual(t, name)
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	a.cert = template // the parent of itself
	a.File = a.write("authority.pem", "CERTIFICATE", a.sign(template, a.key))
	return a
}

// Pair is a certificate and its key.
type Pair struct {
	Cert, Key string // PEM files
	TLS       tls.Certificate
}

// Issue issues a certificate of a name, for servers on this computer and for clients.
// change, if it is not nil, changes it before it is signed.
func (a *Authority) Issue(name string, change func(*x509.Certificate)) (p Pair) {
	a.t.Helper()
	template, key := usual(a.t, name), newKey(a.t)
	if change != nil {
		change(template)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	p.Cert, p.Key = a.write("cert.pem", "CERTIFICATE", a.sign(template, key)), a.write("key.pem", "PRIVATE KEY", der)
	if p.TLS, err = tls.LoadX509KeyPair(p.Cert, p.Key); err != nil {
		a.t.Fatal(err)
	}
	return p
}

// Expired is for Issue.
func Expired(c *x509.Certificate) {
	c.NotBefore, c.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
}

// Client returns the configuration of a client that trusts the authority, with a
// certificate if there is one.
func (a *Authority) Client(pairs ...Pair) *tls.Config {
	config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1"}
	config.RootCAs.AddCert(a.cert)
	for _, p := range pairs {
		config.Certificates = append(config.Certificates, p.TLS)
	}
	return config
}

func usual(t T, name string) *x509.Certificate {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
}

func newKey(t T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *Authority) sign(template *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	if a.cert == template {
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			a.t.Fatal(err)
		}
	}
	return der
}

func (a *Authority) write(name, kind string, der []byte) string {
	a.t.Helper()
	path := filepath.Join(a.t.TempDir(), name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}
