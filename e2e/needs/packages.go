package needs

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// Skipped skips all tests of a package if only unit tests are wanted, because each one starts
// programs. It prints as many results as there are tests, and how many. TestMain calls it before
// it builds anything, and returns if it is true.
func Skipped(m *testing.M) bool {
	flag.Parse()
	if !testing.Short() || flag.Lookup("test.list").Value.String() != "" {
		return false
	}
	wanted, _, _ := strings.Cut(flag.Lookup("test.run").Value.String(), "/")
	names, err := list(m, cmp.Or(wanted, "."))
	if err != nil {
		panic(err)
	}
	tests := 0
	for _, name := range names {
		if strings.HasPrefix(name, "Test") {
			tests++
			if testing.Verbose() { // in the words that go test -json reads
				fmt.Printf("=== RUN   %s\n--- SKIP: %s (0.00s)\n", name, name)
			}
		}
	}
	fmt.Printf("-short: %d tests are skipped, which start programs\n", tests)
	if testing.Verbose() {
		fmt.Println("PASS") // go test -json counts the last test only before this line
	}
	return true
}

// list returns the names of a package's tests, benchmarks and examples that match a pattern. Only
// Run knows them, and prints them to the standard output.
func list(m *testing.M, pattern string) (names []string, err error) {
	if err := flag.Set("test.list", pattern); err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	printed := make(chan []string, 1)
	go func() {
		var lines []string
		scanner := bufio.NewScanner(read)
		for scanner.Scan() {
			lines = append(lines, scanner.Text())
		}
		_, _ = io.Copy(io.Discard, read) // so that Run never waits
		printed <- lines
	}()
	output := os.Stdout
	os.Stdout = write
	m.Run()
	os.Stdout = output
	write.Close()
	return <-printed, nil
}
