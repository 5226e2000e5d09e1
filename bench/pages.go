package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Pages quote figures of medians.json. Their text has no marks: a quotation is found by the words around its figures.

// quotation is a passage of a page. A figure in it is {name digits unit}: the name in medians.json, how many significant
// digits are shown, and the unit, which may be missing. Spaces may be line ends in the page.
type quotation struct {
	page, text string
}

// quotations are all passages with figures. The other figures in the heads of pages are in notMeasured (pages_test.go).
func quotations() []quotation {
	return []quotation{
		{"README.md", "Fifty clients on a full 1.9 Mbps network get data that is {full-age 1 s} old; a server that queues delivers " +
			"it {full-age-floor 2 s} old"},
		{"README.md", "and {rss-50 2 MiB} of memory with 50 clients."},
		{"README.md", "One thread sends {frames-10000 2} frames a second to 10,000 clients, and {idle-wakes 1} wakes in ten seconds"},
		{"docs/BANDWIDTH.md", "a wireless network of 1.9 Mbps carries {full-rate 3} of them a second"},
		{"docs/BANDWIDTH.md", "| a relay | {relay-rate 2} frames a second each, all devices |"},
		{"docs/BANDWIDTH.md", "| compact frames | {compact-rate 2} frames a second each, all devices |"},
		{"docs/BANDWIDTH.md", "| a selection | {beams-rate 2} frames a second each, 20 readings |"},
		{"clients/python/README.md", "The parser decodes {python-parser 2} frames of 807 bytes a second"},
		{"docs/ROS.md", "A program that has subscribed to all topics costs the server {program-cpu 1 %} of a core and {program-rss 1 MiB}"},
	}
}

// notYet is in the place of a figure that medians.json does not have.
const notYet = "(not measured)"

var inQuotation = regexp.MustCompile(`\{([a-z0-9/, -]+) ([1-9])(?: ([A-Za-z%/]+))?\}`)

// shown is the figures of the quotation as they are in the page.
func (q quotation) shown(m medians) (all []string, err error) {
	for _, part := range inQuotation.FindAllStringSubmatch(q.text, -1) {
		figure, ok := m.Figures[part[1]]
		if !ok {
			all = append(all, notYet)
			continue
		}
		digits, _ := strconv.Atoi(part[2]) // it is a digit
		text, err := figure.in(digits, part[3])
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", q.page, part[1], err)
		}
		all = append(all, text)
	}
	return all, nil
}

// in writes a figure with some significant digits in a unit, which follows it.
func (m median) in(digits int, unit string) (string, error) {
	v := m.Value
	switch {
	case unit == "s" && m.Unit == "ms":
		v /= 1000
	case unit != "" && unit != m.Unit:
		return "", fmt.Errorf("is in %s, not %s", m.Unit, unit)
	}
	text := strconv.FormatFloat(significant(v, digits), 'f', -1, 64)
	if whole, _, _ := strings.Cut(text, "."); len(whole) > 4 {
		text = whole[:len(whole)-3] + "," + whole[len(whole)-3:] // below a million
	}
	return strings.TrimSpace(text + " " + unit), nil
}

// expression finds the quotation in a page. Its groups are the figures.
func (q quotation) expression() *regexp.Regexp {
	var b strings.Builder
	last := 0
	literal := func(text string) {
		for i, word := range strings.Split(text, " ") {
			if i > 0 {
				b.WriteString(`\s+`)
			}
			b.WriteString(regexp.QuoteMeta(word))
		}
	}
	for _, at := range inQuotation.FindAllStringIndex(q.text, -1) {
		literal(q.text[last:at[0]])
		b.WriteString(`(` + regexp.QuoteMeta(notYet) + `|[0-9][0-9.,]*(?:\s(?:s|ms|us|%|MiB|KiB|/s))?)`)
		last = at[1]
	}
	literal(q.text[last:])
	return regexp.MustCompile(b.String())
}

// fill puts the figures into a page's text.
func (q quotation) fill(text string, m medians) (string, error) {
	at := q.expression().FindStringSubmatchIndex(text)
	if at == nil {
		return "", fmt.Errorf("%s lacks %q", q.page, q.text)
	}
	shown, err := q.shown(m)
	if err != nil {
		return "", err
	}
	for i := len(shown) - 1; i >= 0; i-- {
		text = text[:at[2*i+2]] + shown[i] + text[at[2*i+3]:]
	}
	return text, nil
}

// publish puts results into the repository: bench/results, docs/BENCHMARKS.md, and the figures of pages.
func (r *results) publish(ctx context.Context) error {
	m, err := r.medians()
	if err != nil {
		return err
	}
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(mod)))
	kept := filepath.Join(root, "bench", "results")
	var page bytes.Buffer
	if err := r.report(&page, "../bench/results/"); err != nil {
		return err
	}
	files := map[string]string{filepath.Join(root, "docs", "BENCHMARKS.md"): page.String()}
	for _, q := range quotations() {
		path := filepath.Join(root, filepath.FromSlash(q.page))
		if files[path] == "" {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files[path] = string(text)
		}
		if files[path], err = q.fill(files[path], m); err != nil {
			return err
		}
	}
	// Nothing is written before all of it is known.
	err = errors.Join(r.write(kept), r.drawFigure3(kept), m.write(kept))
	for path, text := range files {
		err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644))
	}
	if len(m.Commits) > 1 {
		fmt.Fprintf(os.Stderr, "the results are of %d commits: a release has them of one\n", len(m.Commits))
	}
	for _, goal := range r.unexplained() {
		fmt.Fprintf(os.Stderr, "a target is missed, and bench/targets.go has no reason: %s\n", goal)
	}
	return err
}
