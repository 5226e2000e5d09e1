package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"player/formats/textfile"
)

// tokenFile is where the token of the user's own NATS servers is, unless -token says
// otherwise.
func tokenFile() string { return filepath.Join(stateFolder(), "player", "nats.token") }

// readToken returns the token in a file that no other user may read.
func readToken(path string) (string, error) {
	about, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if about.Mode()&0o077 != 0 {
		return "", fmt.Errorf("%s: other users may open it: chmod 600, or delete it and all will get a new one", path)
	}
	text, err := textfile.Read(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("%s is empty: delete it", path)
	}
	return token, nil
}

// ownToken returns the token in a file, which it makes if there is none.
func ownToken(path string) (string, error) {
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	// Whole or not at all: another one of these programs may start now.
	draft, err := os.CreateTemp(dir, "nats.token") // with mode 0600
	if err != nil {
		return "", err
	}
	defer os.Remove(draft.Name())
	_, err = draft.WriteString(rand.Text() + "\n")
	if err = errors.Join(err, draft.Close()); err != nil {
		return "", err
	}
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return readToken(path)
}

// areLocal reports whether all servers of -nats are on this computer and no URL has
// credentials. HOST:PORT is also a URL for NATS.
func areLocal(servers string) bool {
	for server := range strings.SplitSeq(servers, ",") {
		server = strings.TrimSpace(server)
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		u, err := url.Parse(server)
		if err != nil || u.User != nil {
			return false
		}
		ip, err := netip.ParseAddr(u.Hostname())
		if u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}
