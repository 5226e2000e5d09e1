package logfile

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"player/foxglove"
)

// ExportMCAP writes the messages of a log to what create returns, which is called when
// the log has been looked at, so that viewers such as Foxglove draw them: with the
// schemas of package foxglove, in JSON, compressed and with an index. Times stay.
func ExportMCAP(path string, create func() (io.Writer, error), progress Progress) (s *Summary, err error) {
	if s, err = Scan(path); err != nil {
		return nil, err
	}
	out, err := create()
	if err != nil {
		return nil, err
	}
	return s, draw(out, path, s, progress)
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
	err = s.eachOf(path, devices, progress, func(device int, m Message) error {
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
		return c.endFullChunk()
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

// eachOf calls fn for each message of a log with the index of its device in the list.
func (s *Summary) eachOf(path string, devices []foxglove.Device, progress Progress, fn func(device int, m Message) error) error {
	return forEach(path, progress, func(m Message) error {
		device := slices.IndexFunc(devices, func(d foxglove.Device) bool { return d.Interface == m.Channel.Interface && d.Index == m.Channel.Index })
		if device < 0 {
			return nil // its first message came while the log was read
		}
		return fn(device, m)
	})
}
