package logfile

import (
	"io"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"player/ros"
)

// Bag says how a log becomes a bag of ROS 2.
type Bag struct {
	// Name is the name of the bag's folder.
	Name string
	// Reach is the reading, in m, from which on a laser sees nothing; 0 is that of an LMS
	// 200 and of the simulator.
	Reach float64
	// Compress has the chunks of the file compressed with zstd.
	Compress bool
}

// Files of a bag. rosbag2 numbers the files of a bag.
func (b Bag) file() string { return filepath.Base(b.Name) + "_0.mcap" }

// ExportBag writes the messages of a log as a bag of ROS 2: an MCAP file with the profile
// ros2, and metadata.yaml. create returns what to write them to for their names; it is
// called when the log has been looked at. Times are when the data was taken. What ROS has
// no message of, as the gripper and configurations, is left out.
func ExportBag(path string, b Bag, create func(name string) (io.Writer, error), progress Progress) (s *Summary, err error) {
	if s, err = Scan(path); err != nil {
		return nil, err
	}
	out, err := create(b.file())
	if err != nil {
		return nil, err
	}
	about, err := create(ros.BagIndex)
	if err != nil {
		return nil, err
	}
	return s, b.write(out, about, path, s, progress)
}

func (b Bag) write(out, about io.Writer, path string, s *Summary, progress Progress) error {
	c, err := newContainer(out, "ros2")
	if err != nil {
		return err
	}
	if b.Compress {
		if err := c.compress(zstd.SpeedDefault); err != nil {
			return err
		}
	}
	devices := s.devices()
	converter := ros.New("", devices)
	converter.Reach = b.Reach
	var data []byte
	err = s.eachOf(path, devices, progress, func(device int, m Message) error {
		convert := converter.Data
		switch m.Channel.Content {
		case Command:
			convert = converter.Command
		case Configuration:
			return nil
		}
		for _, message := range convert(device, m.Time, m.Payload) {
			id, topic := uint16(message.Topic+1), converter.Topics()[message.Topic]
			c.addSchema(id, topic.Type, "ros2msg", []byte(topic.Schema))
			c.addChannel(id, id, topic.Name, "cdr", ros.QualityKey, topic.Quality())
			data = ros.AppendCDR(data[:0], message.Content)
			c.addMessage(id, 0, uint64(m.Time), uint64(m.Time), data)
		}
		return c.endFullChunk()
	}, func(camera int, m Message) error {
		if m.JPEG() == nil {
			return nil
		}
		c.addPictures(firstPicture, s.Cameras, topicOfROS, ros.QualityKey, ros.Topic{}.Quality())
		c.addMessage(uint16(firstPicture+camera), 0, uint64(m.Time), uint64(m.Time), m.Payload)
		return c.endFullChunk()
	})
	if err == nil {
		err = c.close()
	}
	if err != nil {
		return err
	}
	var streams []ros.Stream
	for i, topic := range converter.Topics() {
		streams = append(streams, ros.Stream{Topic: topic, Messages: c.streams[uint16(i+1)].total})
	}
	for i, camera := range s.Cameras {
		if stream := c.streams[uint16(firstPicture+i)]; stream != nil {
			streams = append(streams, ros.Stream{Topic: ros.Topic{Name: topicOfROS(camera), Type: pictureType}, Messages: stream.total})
		}
	}
	_, err = about.Write(ros.AppendBagIndex(nil, b.file(), c.began, c.ended, streams))
	return err
}
