package ros

import "fmt"

// BagIndex is the file that every bag has in addition to its data.
const BagIndex = "metadata.yaml"

// Stream is a topic of a bag.
type Stream struct {
	Topic
	Messages uint64
}

// AppendBagIndex appends the content of BagIndex: YAML, of version 5, for one file in the
// profile ros2 of MCAP. Its messages are from began to ended, ns since 1970.
func AppendBagIndex(dst []byte, file string, began, ended uint64, streams []Stream) []byte {
	total := uint64(0)
	for _, s := range streams {
		total += s.Messages
	}
	times := func(indent string) {
		dst = fmt.Appendf(dst, "%[1]sduration:\n%[1]s  nanoseconds: %[2]d\n%[1]sstarting_time:\n%[1]s  nanoseconds_since_epoch: %[3]d\n%[1]smessage_count: %[4]d\n",
			indent, ended-began, began, total)
	}
	dst = append(dst, "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: mcap\n"...)
	times("  ")
	dst = fmt.Appendf(dst, "  compression_format: \"\"\n  compression_mode: \"\"\n  relative_file_paths:\n    - %q\n  files:\n    - path: %[1]q\n", file)
	times("      ")
	if len(streams) == 0 {
		return append(dst, "  topics_with_message_count: []\n"...)
	}
	dst = append(dst, "  topics_with_message_count:\n"...)
	for _, s := range streams {
		dst = fmt.Appendf(dst, "    - topic_metadata:\n        name: %s\n        type: %s\n        serialization_format: cdr\n        offered_qos_profiles: %q\n      message_count: %d\n",
			s.Name, s.Type, s.Quality(), s.Messages)
	}
	return dst
}

// QualityKey names the quality of service in the metadata of a channel.
const QualityKey = "offered_qos_profiles"

// Quality returns the quality of service with which the topic was offered: YAML, with the
// numbers of rmw's policies. 9223372036.854775807 s means no limit.
func (t Topic) Quality() string {
	const forever = "{sec: 9223372036, nsec: 854775807}"
	durability, depth := "2", "10" // volatile
	if t.Latched {
		durability, depth = "1", "100" // transient local: one message for each robot
	}
	return "- history: 1\n  depth: " + depth + "\n  reliability: 1\n  durability: " + durability + "\n  deadline: " + forever +
		"\n  lifespan: " + forever + "\n  liveliness: 1\n  liveliness_lease_duration: " + forever + "\n  avoid_ros_namespace_conventions: false"
}
