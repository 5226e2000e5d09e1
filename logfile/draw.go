package logfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"player/foxglove"
)

// ExportMCAP writes the messages of a log to a file at out that viewers such as
// Foxglove draw: with the schemas of package foxglove, in JSON, compressed and with an
// index. Times stay.
func ExportMCAP(out, path string, progress Progress) (s *Summary, err error) {
	if s, err = Scan(path); err != nil {
		return nil, err
	}
	if sameFile(out, path) {
		return nil, fmt.Errorf("%s is the log itself", out)
	}
	file, err := os.Create(out)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return s, draw(file, path, s, progress)
}

// sameFile reports whether both paths are of one file.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// draw writes the file of ExportMCAP.
func draw(out io.Writer, path string, s *Summary, progress Progress) error {
	c, err := newContainer(out, "")
	if err != nil {
		return err
	}
	if err := c.compress(zstd.SpeedDefault); err != nil {
		return err
	}
	c.addMetadata(profile, "log", filepath.Base(path), "server", s.Server)
	devices := s.devices()
	converter := foxglove.New("", devices)
	topics := converter.Topics()
	err = forEach(path, progress, func(m Message) error {
		device := slices.IndexFunc(devices, func(d foxglove.Device) bool { return d.Interface == m.Channel.Interface && d.Index == m.Channel.Index })
		if device < 0 {
			return nil // its first message came while the log was read
		}
		convert := [...]func(int, int64, []byte) []foxglove.Message{
			Data: converter.Data, Command: converter.Command, Configuration: converter.Configuration,
		}[m.Channel.Content]
		for _, message := range convert(device, m.Time, m.Payload) {
			text, err := json.Marshal(message.Content)
			if err != nil {
				return err
			}
			id, topic := uint16(message.Topic+1), topics[message.Topic]
			c.addSchema(id, topic.Schema.Name, "jsonschema", topic.Schema.Text)
			c.addChannel(id, id, topic.Name, "json")
			c.addMessage(id, 0, uint64(m.Time), uint64(m.Time), text)
		}
		if len(c.chunk) >= looseChunk {
			return c.endChunk()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.close()
}

// devices returns the devices of a log with the geometry that their data has.
func (s *Summary) devices() (list []foxglove.Device) {
	for _, c := range s.Channels {
		i := slices.IndexFunc(list, func(d foxglove.Device) bool { return d.Interface == c.Interface && d.Index == c.Index })
		if i < 0 {
			i, list = len(list), append(list, foxglove.Device{Interface: c.Interface, Index: c.Index})
		}
		if c.Content == Data {
			list[i].Geometry = c.Geometry
		}
	}
	return list
}
