package stage

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"player/devices/stage/floor"
)

const (
	// maxUndo is how many changes of a draft can be undone. Each keeps a text.
	maxUndo = 20
	// maxText is the longest text of a draft in bytes: thousands of things, which a page
	// still shows. A draft may be longer if it is at most twice as long as the file that the
	// server has loaded. It also bounds the memory of the draft and its undo.
	maxText = 256 << 10
)

// wallThickness and wallHeight are the size of a wall if the world does not define one, and
// boxSide is the size of a box, in metres.
const wallThickness, wallHeight, boxSide = 0.1, 1, 0.5

// Draft is a world file that is edited. Each change makes the draft of a new text; a
// text that cannot be loaded is refused. No file is written.
type Draft struct {
	World *World // that the text describes; it never runs

	items         []*item           // fixtures, then movers
	types         map[string]string // of the sections that Add can add, by their names
	box           string            // the text behind the pose of a box
	wall          [2]string         // the text before the pose of a wall, and the text behind its length
	length, angle float64           // the units of the file, metres and radians
	base          string            // the text that the draft began with
	undo          []earlier         // before the last changes, the oldest first
}

// earlier is the state of a draft before a change.
type earlier struct {
	origin     origin
	text, base string
}

// item is a thing of a draft, and where it is in the text.
type item struct {
	at       Pose
	z        float64
	file     string // another file that it is in; empty: the main file
	from, to int    // the section, in bytes
	pose     [2]int // its field pose; where one is to be inserted if it has none
	name     string // of a robot without a field for it; empty: there is one
}

// Draft returns a draft of the file as it was loaded. Included files are read again.
func (w *World) Draft() (*Draft, error) {
	from := w.origin
	from.most = size{max(draftStored, 2*w.size.stored), max(draftTiles, 2*w.size.tiles)}
	return from.draft(w.text, w.text)
}

// draft loads a text in place of the main file.
func (o origin) draft(text, base string) (*Draft, error) {
	if most := max(maxText, 2*len(base)); len(text) > most {
		return nil, fmt.Errorf("the world file would have %d bytes, and %d is the most: go on in a text editor", len(text), most)
	}
	edited := o
	edited.read = func(path string) ([]byte, error) {
		if path == o.path {
			return []byte(text), nil
		}
		return o.read(path)
	}
	l, err := edited.load()
	if errors.Is(err, errTooLarge) {
		err = fmt.Errorf("%w, or go on in a text editor: this is far more than the file that the server has loaded", err)
	}
	if err != nil {
		return nil, err
	}
	l.world.origin = o
	d := &Draft{World: l.world, types: map[string]string{"box": "box", "position": "position"}, base: base}
	d.length, d.angle = l.file.Units()
	for _, b := range slices.Concat(l.world.fixtures, l.world.bodies) {
		d.items = append(d.items, l.item(b))
	}
	d.learn(l)
	return d, nil
}

// item finds a thing in the text.
func (l *loader) item(b *body) *item {
	s := l.sections[b]
	at, z := l.pose(s)
	it := &item{at: at, z: z}
	if s.Pos.File != l.file.Name {
		it.file = s.Pos.File
		return it
	}
	it.from, it.to = s.Span()
	it.pose = [2]int{it.to - 1, it.to - 1}
	if f := s.Field("pose"); f != nil && f.Pos.File == l.file.Name {
		if from, to := f.Span(); from > it.from && to < it.to { // not in a define
			it.pose = [2]int{from, to}
		}
	}
	if b.robot != nil && s.Field("name") == nil {
		it.name = b.name
	}
	return it
}

// learn collects the types that can be added: the types that the world defines, and two that
// need no definition.
func (d *Draft) learn(l *loader) {
	d.box = " size [" + d.lengths(boxSide, boxSide, boxSide) + "]"
	for _, name := range l.file.Defined() {
		kind := l.file.TypeOf(name)
		// Worlds for Stage give such names to models that are only bases for others, for example pioneer_base.
		if !slices.Contains([]string{"model", "position", "box", "puck"}, kind) || strings.Contains(name, "_base") {
			continue
		}
		d.types[name] = kind
		if name == "box" {
			d.box = ""
		}
	}
	d.wall = [2]string{`model ( name "wall" color "gray40"`, " " + d.lengths(wallThickness, wallHeight)}
	if s := l.file.Define("wall"); s != nil && s.Type == "model" {
		if size := s.Field("size"); size != nil && len(size.Values) == 3 {
			d.wall = [2]string{"wall ("}
		}
	}
}

// Text returns the text of the main file.
func (d *Draft) Text() string { return d.World.text }

// Changed reports whether the text is another one than the draft began with.
func (d *Draft) Changed() bool { return d.Text() != d.base }

// Of reports whether the draft began with the main file of w in the version that w has loaded.
func (d *Draft) Of(w *World) bool { return d.World.origin.path == w.origin.path && d.base == w.text }

// Kinds returns the names of the types that Add can add, sorted.
func (d *Draft) Kinds() []string { return slices.Sorted(maps.Keys(d.types)) }

// Starts returns the poses in the file, of the fixtures and then of the movers.
func (d *Draft) Starts() []Pose {
	poses := make([]Pose, len(d.items))
	for i, it := range d.items {
		poses[i] = it.at
	}
	return poses
}

// Add places a thing. A robot gets an unused name.
func (d *Draft) Add(kind string, at Pose) (*Draft, error) {
	more := "" // fields behind the pose
	switch d.types[kind] {
	case "":
		return nil, fmt.Errorf("the world has no %.40q", kind)
	case "position":
		i := 0
		for d.World.Robot(fmt.Sprintf("r%d", i)) != nil {
			i++
		}
		more = fmt.Sprintf(" name \"r%d\"", i)
	}
	if kind == "box" {
		more += d.box
	}
	return d.append(kind+" ( "+d.pose(at, 0)+more+" )", at)
}

// AddWall places a wall between two points.
func (d *Draft) AddWall(from, to Vec) (*Draft, error) {
	along := to.Sub(from)
	length := along.Length()
	if !(length >= d.World.resolution) {
		return nil, errors.New("the wall is too short")
	}
	at := Pose{X: (from.X + to.X) / 2, Y: (from.Y + to.Y) / 2, Heading: math.Atan2(along.Y, along.X)}
	return d.append(d.wall[0]+" "+d.pose(at, 0)+" size ["+d.lengths(length)+d.wall[1]+"] )", at)
}

// Move moves a thing, an index of Starts. Its height does not change.
func (d *Draft) Move(index int, at Pose) (*Draft, error) {
	it, err := d.item(index)
	if err != nil {
		return nil, err
	}
	pose := d.pose(at, it.z)
	if it.pose[0] == it.pose[1] {
		pose = " " + pose + " "
	}
	return d.change(d.Text()[:it.pose[0]]+pose+d.Text()[it.pose[1]:], at)
}

// Delete deletes a thing, an index of Starts. Later robots keep their names.
func (d *Draft) Delete(index int) (*Draft, error) {
	it, err := d.item(index)
	if err != nil {
		return nil, err
	}
	text, from, to := d.Text(), it.from, it.to
	start := len(strings.TrimRight(text[:from], " \t"))
	end := len(text) - len(strings.TrimLeft(text[to:], " \t"))
	if (start == 0 || text[start-1] == '\n') && end < len(text) && text[end] == '\n' {
		from, to = start, end+1 // nothing else is on its lines
	}
	for _, robot := range slices.Backward(d.items[len(d.World.fixtures):]) { // in the order of the file
		if robot.name != "" && robot.from > it.from {
			text = fmt.Sprintf("%s name %q )%s", text[:robot.to-1], robot.name, text[robot.to:])
		}
	}
	return d.change(text[:from]+text[to:], Pose{})
}

// Undo returns the draft before the last change.
func (d *Draft) Undo() (*Draft, error) {
	if len(d.undo) == 0 {
		return nil, errors.New("there is nothing to undo")
	}
	last := len(d.undo) - 1
	before := d.undo[last]
	next, err := before.origin.draft(before.text, before.base)
	if err != nil {
		return nil, err
	}
	next.undo = d.undo[:last]
	return next, nil
}

// Undoable reports whether Undo has a change to undo.
func (d *Draft) Undoable() bool { return len(d.undo) > 0 }

// Revert returns a draft with the file of w in the version that w has loaded. Undo reverts this.
func (d *Draft) Revert(w *World) (*Draft, error) {
	next, err := w.Draft()
	if err != nil {
		return nil, err
	}
	next.follow(d)
	return next, nil
}

// follow makes Undo of d return last.
func (d *Draft) follow(last *Draft) {
	d.undo = append(slices.Clone(last.undo), earlier{last.World.origin, last.Text(), last.base})
	if len(d.undo) > maxUndo {
		d.undo = d.undo[1:]
	}
}

// item returns a thing that can be changed, an index of Starts.
func (d *Draft) item(index int) (*item, error) {
	if index < 0 || index >= len(d.items) {
		return nil, fmt.Errorf("there is no thing %d", index)
	}
	it := d.items[index]
	if it.file != "" {
		return nil, fmt.Errorf("it is in the included file %s: edit that file", it.file)
	}
	return it, nil
}

// append adds a line to the text.
func (d *Draft) append(line string, at Pose) (*Draft, error) {
	text := d.Text()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return d.change(text+line+"\n", at)
}

// change returns the draft of a text. It refuses an invalid pose, and a change that leaves
// no room for a movable thing.
func (d *Draft) change(text string, at Pose) (*Draft, error) {
	if err := checkPose(at); err != nil {
		return nil, err
	}
	next, err := d.World.origin.draft(text, d.base)
	if err != nil {
		return nil, err
	}
	if next.World.stuck() > d.World.stuck() {
		return nil, fmt.Errorf("%w: a thing that moves would start inside another one", ErrNoRoom)
	}
	next.follow(d)
	return next, nil
}

// stuck returns the number of movers that overlap another thing.
func (w *World) stuck() (n int) {
	for _, b := range w.bodies {
		if w.blocked(b) {
			n++
		}
	}
	return n
}

// pose returns a field with four numbers.
func (d *Draft) pose(at Pose, z float64) string {
	return "pose [" + d.lengths(at.X, at.Y, z) + " " + number(floor.Wrap(at.Heading)/d.angle) + "]"
}

// lengths returns lengths in the unit of the file.
func (d *Draft) lengths(metres ...float64) string {
	texts := make([]string, len(metres))
	for i, v := range metres {
		texts[i] = number(v / d.length)
	}
	return strings.Join(texts, " ")
}

// number returns v with at most four decimals: a tenth of a millimetre if the unit is
// the metre. World files have no exponents.
func number(v float64) string {
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 4, 64), "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}
