package ros

import (
	"slices"
	"strconv"
	"strings"
)

// Name converts a name to a part of topics, services and frames of ROS 2. Those have ASCII
// letters, digits and single underscores, and begin with a letter: ROS hides names that begin with
// an underscore. Each run of other characters becomes an underscore, none at an end. If nothing is
// left, or a digit comes first, kind does, as in "robot_3pi". A name that ROS accepts stays as it
// is.
func Name(kind, name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
	legal := strings.Join(parts, "_")
	switch {
	case legal == "":
		return kind
	case legal[0] <= '9':
		return kind + "_" + legal
	}
	return legal
}

// Names returns the results of Name for each name. If several results are equal, a name that
// was already valid keeps it, and the others get numbers in the order of the list: "robot-1"
// becomes "robot_1_2" where there is a robot_1. Equal names stay equal.
func Names(kind string, names []string) []string {
	all := make([]string, len(names))
	taken := map[string]string{} // the first name of each
	for _, name := range names {
		if Name(kind, name) == name {
			taken[name] = name
		}
	}
	for i, name := range names {
		if first := slices.Index(names, name); first < i {
			all[i] = all[first]
			continue
		}
		base := Name(kind, name)
		all[i] = base
		for n := 2; ; n++ {
			if by, used := taken[all[i]]; !used || by == name {
				break
			}
			all[i] = base + "_" + strconv.Itoa(n)
		}
		taken[all[i]] = name
	}
	return all
}
