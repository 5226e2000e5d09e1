package logfile

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"player/formats/foxglove"
	"player/formats/telemetry"
)

// ExportMCAP writes the messages of a log to the result of create, so that viewers such as Foxglove draw them. It
// calls create when the log has been scanned. The file has the schemas of package foxglove, JSON, compression and an
// index. Times stay.
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
	c, err := NewContainer(out, "")
	if err != nil {
		return err
	}
	if err := c.Compress(zstd.SpeedDefault); err != nil {
		return err
	}
	c.addMetadata(profile, "log", filepath.Base(path), "server", s.Server)
	devices := s.Devices()
	converter := telemetry.New("", devices)
	topics := converter.Topics()
	schemas := make([]foxglove.Schema, len(topics))
	for i, topic := range topics {
		schemas[i] = foxglove.SchemaOf(topic.Message)
	}
	pictures := foxglove.SchemaOf(telemetry.CompressedImage{})
	write := func(id uint16, topic string, schema foxglove.Schema, schemaID uint16, at int64, content any) error {
		text, err := json.Marshal(content)
		if err != nil {
			return err
		}
		c.AddSchema(schemaID, schema.Name, "jsonschema", schema.Text)
		c.AddChannel(id, schemaID, topic, "json")
		c.AddMessage(id, 0, uint64(at), uint64(at), text)
		return nil
	}
	err = s.EachOf(path, devices, progress, func(device int, m Message) error {
		convert := [...]func(int, int64, []byte) []telemetry.Message{
			Data: converter.Data, Command: converter.Command, Configuration: converter.Configuration,
		}[m.Channel.Content]
		for _, message := range convert(device, m.Time, m.Payload) {
			id, topic := uint16(message.Topic+1), topics[message.Topic]
			if err := write(id, topic.Name, schemas[message.Topic], id, m.Time, message.Content); err != nil {
				return err
			}
		}
		return c.EndFullChunk()
	}, func(camera int, m Message) error {
		picture := m.JPEG()
		if picture == nil {
			return nil
		}
		err := write(uint16(FirstPicture+camera), pictureTopic+m.Camera, pictures, FirstPicture, m.Time, converter.Image(m.Camera, m.Time, picture))
		return errors.Join(err, c.EndFullChunk())
	})
	if err != nil {
		return err
	}
	return c.Close()
}

// Devices returns the devices of a log with the geometry that their data has, and their descriptions.
func (s *Summary) Devices() (list []telemetry.Device) {
	for _, c := range s.Channels {
		i := slices.IndexFunc(list, func(d telemetry.Device) bool { return d.Interface == c.Interface && d.Index == c.Index })
		if i < 0 {
			about := s.Descriptions[Channel{Interface: c.Interface, Index: c.Index}.Topic()]
			i, list = len(list), append(list, telemetry.Device{Interface: c.Interface, Index: c.Index, Description: about})
		}
		if c.Content == Data {
			list[i].Geometry = c.Geometry
		}
	}
	return list
}

// EachOf calls fn for each message of a log with the index of its device in the list, and
// picture for each picture with the index of its camera.
func (s *Summary) EachOf(path string, devices []telemetry.Device, progress Progress, fn, picture func(index int, m Message) error) error {
	return forEach(path, progress, func(m Message) error {
		if m.Channel == nil {
			if camera := slices.Index(s.Cameras, m.Camera); camera >= 0 {
				return picture(camera, m)
			}
			return nil
		}
		device := slices.IndexFunc(devices, func(d telemetry.Device) bool { return d.Interface == m.Channel.Interface && d.Index == m.Channel.Index })
		if device < 0 {
			return nil // its first message came while the log was read
		}
		return fn(device, m)
	})
}
