package sweep

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// originColumns name the origin of a result, at the end of its row. Results of two worlds,
// programs or versions can not be compared, so all rows of a table have the same values there.
var originColumns = []string{"world", "program", "version"}

// digestSize is how many bytes of a digest distinguish files. A table needs no protection from forgery: 6 bytes
// are enough, and short.
const digestSize = 6

// originOf returns the values of originColumns. The names of a world and of a program are followed by a digest of their
// files, so that edited files are another origin. It returns an error if a program does not exist.
func originOf(world, source string, program []string, version string) (row, error) {
	path, err := exec.LookPath(program[0])
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	words := make([]string, len(program))
	for i, word := range program {
		words[i] = word
		if word == "" || strings.ContainsAny(word, " \t\n\"'\\") {
			words[i] = strconv.Quote(word)
		}
		if i == 0 {
			word = path
		}
		if err := digestFile(sum, word); err != nil {
			return nil, err
		}
	}
	return row{
		"world":   fmt.Sprintf("%s %x", filepath.Base(world), source[:digestSize]),
		"program": fmt.Sprintf("%s %x", strings.Join(words, " "), sum.Sum(nil)[:digestSize]),
		"version": strings.TrimPrefix(version, "player "),
	}, nil
}

// digestFile adds a file that a command names. Words that name none, folders and devices add nothing,
// nor does a program that may be run and not read.
func digestFile(sum io.Writer, path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if errors.Is(err, os.ErrPermission) {
		return nil
	} else if err != nil {
		return err
	}
	defer file.Close()
	fmt.Fprintf(sum, "%d ", info.Size())
	_, err = io.Copy(sum, file)
	return err
}

// matches returns an error with the first column in which a result differs in its origin.
func (o row) matches(result row) error {
	for _, name := range originColumns {
		switch result[name] {
		case o[name]:
		case "":
			return fmt.Errorf("does not say of which %s it is, as in tables of older versions", name)
		default:
			return fmt.Errorf("is of another %s, %s, and this sweep is of %s", name, result[name], o[name])
		}
	}
	return nil
}

// lock makes a table this process's until it ends or calls release: of two sweeps with one table, each
// would replace the other's results. The lock is an abstract Unix socket, which leaves no file.
func lock(table string) (release func(), err error) {
	path, err := filepath.Abs(table)
	if err != nil {
		return nil, err
	}
	socket, err := net.Listen("unix", fmt.Sprintf("@player-sweep-%x", sha256.Sum256([]byte(path))))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s: another sweep writes it: wait for its end, or name another table with -o", table)
	} else if err != nil {
		return nil, err
	}
	return func() { _ = socket.Close() }, nil
}
