package logfile

import (
	"bufio"
	"fmt"
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

// bagIndex is the file that every bag has.
const bagIndex = "metadata.yaml"

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
	about, err := create(bagIndex)
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
			c.addChannel(id, id, topic.Name, "cdr", "offered_qos_profiles", qualityOf(topic))
			data = ros.AppendCDR(data[:0], message.Content)
			c.addMessage(id, 0, uint64(m.Time), uint64(m.Time), data)
		}
		return c.endFullChunk()
	})
	if err == nil {
		err = c.close()
	}
	if err != nil {
		return err
	}
	return b.index(about, c, converter.Topics())
}

// index writes metadata.yaml.
func (b Bag) index(out io.Writer, c *container, topics []ros.Topic) error {
	text := bufio.NewWriter(out)
	write := func(format string, args ...any) { fmt.Fprintf(text, format, args...) } // Flush returns the error
	times := func(indent string) {
		write("%[1]sduration:\n%[1]s  nanoseconds: %[2]d\n%[1]sstarting_time:\n%[1]s  nanoseconds_since_epoch: %[3]d\n%[1]smessage_count: %[4]d\n",
			indent, c.ended-c.began, c.began, c.total)
	}
	write("rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: mcap\n")
	times("  ")
	write("  compression_format: \"\"\n  compression_mode: \"\"\n  relative_file_paths:\n    - %q\n  files:\n    - path: %[1]q\n", b.file())
	times("      ")
	write("  topics_with_message_count:\n")
	for i, topic := range topics {
		write("    - topic_metadata:\n        name: %s\n        type: %s\n        serialization_format: cdr\n        offered_qos_profiles: %q\n      message_count: %d\n",
			topic.Name, topic.Type, qualityOf(topic), c.streams[uint16(i+1)].total)
	}
	return text.Flush()
}

// qualityOf returns the quality of service with which the topic was offered: YAML, with
// the numbers of rmw's policies. 9223372036.854775807 s is for ever.
func qualityOf(t ros.Topic) string {
	const forever = "{sec: 9223372036, nsec: 854775807}"
	durability, depth := "2", "10" // volatile
	if t.Latched {
		durability, depth = "1", "1" // transient local
	}
	return "- history: 1\n  depth: " + depth + "\n  reliability: 1\n  durability: " + durability + "\n  deadline: " + forever +
		"\n  lifespan: " + forever + "\n  liveliness: 1\n  liveliness_lease_duration: " + forever + "\n  avoid_ros_namespace_conventions: false"
}
