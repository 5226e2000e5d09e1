package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// nightly has the results of .ci/nightly that belong to a release. The zero value stands for none.
type nightly struct {
	folder     string
	commit     string
	soak       soakResult
	simulation simulationResult
}

// soakResult is soak.json, which e2e's TestSoak writes.
type soakResult struct {
	Server  string // what it prints with -version
	Time    string
	Passed  bool
	Samples []struct {
		Memory      float64 `json:"rss_kib"`
		Anonymous   float64 `json:"anonymous_kib"`
		Descriptors float64
		Threads     float64
		Wakes       float64 `json:"wakes_per_s"`
	}
}

// simulationResult is simulation.json, which step seeds of .ci/nightly writes.
type simulationResult struct {
	Commit string
	Runs   []struct {
		Of        string
		First     uint64
		Seeds     int
		Simulated string // virtual time
		Passed    bool
	}
}

// nightlyFiles are the files of a nightly that a release has.
var nightlyFiles = []string{"soak.json", "soak.svg", "simulation.json"}

// nightlyOf returns the results in a folder of a commit, in the words of git. The folder "none" has none.
func nightlyOf(folder, commit string) (nightly, error) {
	if folder == "none" {
		return nightly{}, nil
	}
	hash, err := output("git", "rev-parse", commit)
	if err != nil {
		return nightly{}, err
	}
	return readNightly(folder, hash)
}

// readNightly reads the results of a commit. They must be of this commit, and good.
func readNightly(folder, commit string) (nightly, error) {
	n := nightly{folder: folder, commit: commit}
	for _, name := range nightlyFiles {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return n, fmt.Errorf("%w: `.ci/nightly soak seeds` writes it", err)
		}
		switch name {
		case "soak.json":
			err = json.Unmarshal(text, &n.soak)
		case "simulation.json":
			err = json.Unmarshal(text, &n.simulation)
		}
		if err != nil {
			return n, fmt.Errorf("%s: %w", filepath.Join(folder, name), err)
		}
	}
	of := "unknown"
	if part := commitOfVersion.FindStringSubmatch(n.soak.Server); part != nil {
		of = part[1]
	}
	switch {
	case of != commit:
		return n, fmt.Errorf("the soak is of commit %s, the release is of %s", of, commit)
	case n.simulation.Commit != commit:
		return n, fmt.Errorf("the simulation is of commit %s, the release is of %s", n.simulation.Commit, commit)
	case !n.soak.Passed || len(n.soak.Samples) == 0:
		return n, errors.New("the soak failed")
	case len(n.simulation.Runs) == 0:
		return n, errors.New("the simulation has no runs")
	}
	for _, r := range n.simulation.Runs {
		if !r.Passed {
			return n, fmt.Errorf("the simulation of the %s failed", r.Of)
		}
	}
	return n, nil
}

// commitOfVersion matches the commit in the text of player -version.
var commitOfVersion = regexp.MustCompile(`\(commit ([^,]*),`)

// files returns the files by their names in the release.
func (n nightly) files(version string) (map[string][]byte, error) {
	files := map[string][]byte{}
	if n.folder == "" {
		return files, nil
	}
	for _, name := range nightlyFiles {
		text, err := os.ReadFile(filepath.Join(n.folder, name))
		if err != nil {
			return nil, err
		}
		files[n.name(version, name)] = text
	}
	return files, nil
}

func (n nightly) name(version, file string) string { return "player-" + version + "-" + file }

// notes returns the part of the release's notes.
func (n nightly) notes(version string) string {
	const head = "\n### Tested\n\n"
	if n.folder == "" {
		return head + "No nightly results belong to this release: neither an hour of everything at once nor seeds of the simulation.\n"
	}
	last := n.soak.Samples[len(n.soak.Samples)-1]
	var runs []string
	for _, r := range n.simulation.Runs {
		runs = append(runs, fmt.Sprintf("%d seeds of the %s from %d on, %s of virtual time", r.Seeds, r.Of, r.First, r.Simulated))
	}
	server, _, _ := strings.Cut(n.soak.Server, " (")
	return head + fmt.Sprintf("Commit %s, the last one before the number:\n\n", n.commit) +
		fmt.Sprintf("- %s of everything at once on the server (%s): at the end %.1f MiB of memory, %.1f of them anonymous, %.0f descriptors, %.0f threads, %.0f wakes a second. The picture is %s, the samples are in %s.\n",
			n.soak.Time, server, last.Memory/1024, last.Anonymous/1024, last.Descriptors, last.Threads, last.Wakes, n.name(version, "soak.svg"), n.name(version, "soak.json")) +
		fmt.Sprintf("- The simulation found no fault: %s (%s).\n", strings.Join(runs, "; "), n.name(version, "simulation.json"))
}
