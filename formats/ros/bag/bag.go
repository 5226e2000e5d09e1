// Package bag writes a log of this server as a bag of ROS 2.
package bag

import (
	"io"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"player/formats/logfile"
	"player/formats/ros"
)

// Options are the options of the conversion to a bag.
type Options struct {
	// Name is the name of the bag's folder.
	Name string
	// Reach is the reading, in m, from which on a laser sees nothing; 0: as for an LMS 200
	// and the simulator.
	Reach float64
	// Compress has the chunks of the file compressed with zstd.
	Compress bool
}

// file is the name of the file with the messages. rosbag2 numbers the files of a bag.
func (o Options) file() string { return filepath.Base(o.Name) + "_0.mcap" }

// Export writes the messages of a log as a bag of ROS 2: an MCAP file with the profile ros2,
// and metadata.yaml. create returns the writer for a file's name; it is called when the log
// has been scanned. Times are when the data was taken. Data without a message in ROS, such
// as the gripper's and configurations, is left out.
func Export(path string, o Options, create func(name string) (io.Writer, error), progress logfile.Progress) (s *logfile.Summary, err error) {
	if s, err = logfile.Scan(path); err != nil {
		return nil, err
	}
	out, err := create(o.file())
	if err != nil {
		return nil, err
	}
	about, err := create(ros.BagIndex)
	if err != nil {
		return nil, err
	}
	return s, o.write(out, about, path, s, progress)
}

func (o Options) write(out, about io.Writer, path string, s *logfile.Summary, progress logfile.Progress) error {
	c, err := logfile.NewContainer(out, "ros2")
	if err != nil {
		return err
	}
	if o.Compress {
		if err := c.Compress(zstd.SpeedDefault); err != nil {
			return err
		}
	}
	devices := s.Devices()
	converter := ros.New("", devices)
	converter.Reach = o.Reach
	pictures := topicsOf(s.Cameras)
	var data []byte
	err = s.EachOf(path, devices, progress, func(device int, m logfile.Message) error {
		convert := converter.Data
		switch m.Channel.Content {
		case logfile.Command:
			convert = converter.Command
		case logfile.Configuration:
			return nil
		}
		for _, message := range convert(device, m.Time, m.Payload) {
			id, topic := uint16(message.Topic+1), converter.Topics()[message.Topic]
			c.AddSchema(id, topic.Type, "ros2msg", []byte(topic.Schema))
			c.AddChannel(id, id, topic.Name, "cdr", ros.QualityKey, topic.Quality())
			data = ros.AppendCDR(data[:0], message.Content)
			c.AddMessage(id, 0, uint64(m.Time), uint64(m.Time), data)
		}
		return c.EndFullChunk()
	}, func(camera int, m logfile.Message) error {
		if m.JPEG() == nil {
			return nil
		}
		c.AddPictures(logfile.FirstPicture, pictures, ros.QualityKey, ros.Topic{}.Quality())
		c.AddMessage(uint16(logfile.FirstPicture+camera), 0, uint64(m.Time), uint64(m.Time), m.Payload)
		return c.EndFullChunk()
	})
	if err == nil {
		err = c.Close()
	}
	if err != nil {
		return err
	}
	var streams []ros.Stream
	for i, topic := range converter.Topics() {
		streams = append(streams, ros.Stream{Topic: topic, Messages: c.Messages(uint16(i + 1))})
	}
	for i := range pictures {
		if n := c.Messages(uint16(logfile.FirstPicture + i)); n > 0 {
			streams = append(streams, ros.Stream{Topic: ros.Topic{Name: pictures[i], Type: logfile.PictureType}, Messages: n})
		}
	}
	began, ended := c.Times()
	_, err = about.Write(ros.AppendBagIndex(nil, o.file(), began, ended, streams))
	return err
}

// topicsOf returns the topics of cameras in ROS 2. Tools expect this ending for compressed
// pictures.
func topicsOf(cameras []string) []string {
	topics := make([]string, len(cameras))
	for i, camera := range cameras {
		topics[i] = "camera_" + camera
	}
	for i, name := range ros.Names("camera", topics) {
		topics[i] = "/" + name + "/compressed"
	}
	return topics
}
