package logfile

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"player/codec"
)

// Progress is called from time to time during an export, with the number of
// bytes of the log that are done.
type Progress func(done, total int64)

// ExportTo writes the channels of a log that have messages as tables to w, one
// after another, with an empty line between them. The first column names the
// device.
func ExportTo(w io.Writer, path string, progress Progress) (*Summary, error) {
	s, err := Scan(path)
	if err != nil {
		return nil, err
	}
	channels := s.recorded()
	out := bufio.NewWriterSize(w, readBuffer)
	for i, c := range channels {
		if i > 0 {
			_ = out.WriteByte('\n') // Flush returns the error
		}
		pass := func(done, total int64) { progress(int64(i)*total+done, int64(len(channels))*total) }
		t := newTable(c, out, "device", fileName(c.Channel))
		if err := export(path, []*table{t}, s.First, pass); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ExportFiles writes the channels of a log that have messages as tables into files
// that create returns for their names: position.csv, position-command.csv,
// position-1.csv.
func ExportFiles(path string, create func(name string) (io.Writer, error), progress Progress) (s *Summary, err error) {
	if s, err = Scan(path); err != nil {
		return nil, err
	}
	var tables []*table
	for _, c := range s.recorded() {
		file, err := create(fileName(c.Channel) + ".csv")
		if err != nil {
			return nil, err
		}
		tables = append(tables, newTable(c, bufio.NewWriterSize(file, readBuffer), "", ""))
	}
	return s, export(path, tables, s.First, progress)
}

// recorded returns the channels with messages.
func (s *Summary) recorded() (channels []ChannelSummary) {
	for _, c := range s.Channels {
		if c.Messages > 0 {
			channels = append(channels, c)
		}
	}
	return channels
}

// fileName returns the file name for a topic: position, position-command,
// position-1.
func fileName(c Channel) string {
	return strings.NewReplacer("/", "-", ":", "-").Replace(strings.TrimPrefix(c.Topic(), "/"))
}

// table is a channel being written as a table.
type table struct {
	channel Channel
	widest  int // bytes of the largest payload, which has a value in each column
	layout  layout
	w       *bufio.Writer
	begun   bool   // the header is written
	name    string // of the first column, with a comma; empty if there is none
	value   string // in the first column, with a comma
	vision  codec.VisionData
	first   []byte
	rows    []byte
}

// newTable returns a table. An optional first column has the same
// value in all rows. Errors of w appear when it is flushed.
func newTable(c ChannelSummary, w *bufio.Writer, name, value string) *table {
	t := &table{channel: c.Channel, widest: c.Widest, layout: parseLayout(c.Schema), w: w}
	if name != "" {
		t.name, t.value = name+",", value+","
	}
	return t
}

// add writes a message recorded at m.Time. zero, ns since 1970, is the start
// of the table's time.
func (t *table) add(m Message, zero int64) error {
	if !t.begun {
		t.begun = true
		fmt.Fprintf(t.w, "%stime_s,unix_s,%s\n", t.name, strings.Join(t.layout.header(t.widest), ","))
	}
	t.first = append(t.first[:0], t.value...)
	t.first = appendSeconds(t.first, m.Time-zero)
	t.first = append(t.first, ',')
	t.first = appendSeconds(t.first, m.Time)
	t.rows = t.layout.appendRows(t.rows[:0], t.first, m.Payload, &t.vision)
	if missing := t.layout.repeated(t.widest) - t.layout.repeated(len(m.Payload)); missing > 0 {
		t.rows = append(t.rows[:len(t.rows)-1], strings.Repeat(",", missing)+"\n"...)
	}
	_, err := t.w.Write(t.rows)
	return err
}

// appendSeconds appends ns as seconds with six decimals, truncated.
func appendSeconds(dst []byte, ns int64) []byte {
	us := ns / 1000
	if us < 0 {
		dst, us = append(dst, '-'), -us
	}
	dst = strconv.AppendInt(dst, us/1e6, 10)
	dst = append(dst, '.')
	fraction := us % 1e6
	for digit := int64(1e5); digit > 0; digit /= 10 {
		dst = append(dst, byte('0'+fraction/digit%10))
	}
	return dst
}

// progressEvery is the number of messages between two calls of Progress: a few
// milliseconds of work.
const progressEvery = 4096

// forEach reads a log and calls do with each message of a device and each picture, which are
// valid until do returns.
func forEach(path string, progress Progress, do func(Message) error) error {
	r, err := Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		m, err := r.NextRecord()
		if err == io.EOF {
			return nil
		}
		if n%progressEvery == 0 {
			progress(r.Offset(), info.Size())
		}
		if m.Channel == nil && m.Camera == "" {
			continue
		}
		if err := do(m); err != nil {
			return err
		}
	}
}

// export reads the log once and writes the tables.
func export(path string, tables []*table, zero int64, progress Progress) error {
	of := map[Channel]*table{}
	for _, t := range tables {
		of[t.channel] = t
	}
	err := forEach(path, progress, func(m Message) error {
		if m.Channel == nil { // a picture
			return nil
		}
		if t := of[*m.Channel]; t != nil {
			return t.add(m, zero)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := t.w.Flush(); err != nil {
			return err
		}
	}
	return nil
}
