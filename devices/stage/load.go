package stage

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"player/devices/stage/floor"
	"player/formats/syntax"
	"player/simulation/worlds"
)

const (
	defaultResolution = 0.02 // metres per cell, the default of Stage
	// maxNamed bounds the warnings about ignored names, which are a line of the log each:
	// a file of Stage has some twenty such names, a file of another kind thousands.
	maxNamed = 100
)

// FileSeed is the seed of the world file.
const FileSeed = -1

// Load reads a world file (docs/STAGE.md) and uses its seed, see LoadSeed.
func Load(path string) (*World, error) { return LoadSeed(path, FileSeed) }

// LoadSeed reads a world file. The seed replaces the file's seed, unless it is negative. A path without extension at
// which there is no file names a world in the binary, whatever the directory. For mistakes in the file the error is an
// *[syntax.Error], or several joined.
func LoadSeed(path string, seed int) (*World, error) {
	if name := filepath.Base(path); worlds.Exists(name) && !isFile(path) {
		return origin{name + worlds.Extension, worlds.Files.ReadFile, worlds.Files.Open, size{maxStored, maxTiles}, seed}.world()
	}
	return origin{path, syntax.Reader(path, worlds.Files), openFile, size{maxStored, maxTiles}, seed}.world()
}

// origin is the source from which a world is read.
type origin struct {
	path string                             // of the main file
	read func(path string) ([]byte, error)  // main file and includes
	open func(path string) (fs.File, error) // pictures
	most size                               // of the world
	seed int                                // negative: the file's own
}

func (o origin) world() (*World, error) {
	l, err := o.load()
	if err != nil {
		return nil, err
	}
	return l.world, nil
}

// load makes a world. The loader that it returns knows the sections of things.
func (o origin) load() (*loader, error) {
	file, err := syntax.Parse(o.path, o.read)
	if err != nil {
		return nil, err
	}
	l := &loader{
		file:     file,
		open:     o.open,
		palette:  shades(),
		digest:   sha256.New(),
		world:    &World{name: file.Name, origin: o, text: file.Texts()[0], scan: scanDirections(), scanning: scanning{scanners: []*scanner{newScanner()}}, tracker: newTracker()},
		sections: map[*body]*syntax.Section{},
		fans:     map[fan][]Vec{},
		reported: map[string]bool{},
	}
	return l, l.build(o.most)
}

// isFile reports whether path exists and is not a directory.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// build fills the world from the parsed file.
func (l *loader) build(most size) error {
	l.settings(l.file.Global)
	l.things(l.file.Global)
	if err := errors.Join(l.file.Err(), errors.Join(l.errs...)); err != nil {
		return err
	}
	if err := l.drawLayers(most); err != nil {
		return err
	}
	for _, text := range l.file.Texts() {
		fmt.Fprintf(l.digest, "%d %s", len(text), text)
	}
	l.world.source = string(l.digest.Sum(nil))
	l.world.begin()
	l.checkRoom()
	l.nameIgnored()
	l.nameRedefined()
	return nil
}

// loader is the state of reading a world.
type loader struct {
	file     *syntax.File
	open     func(path string) (fs.File, error)
	palette  palette
	digest   hash.Hash // of all files
	world    *World
	seed     uint64
	colors   *rand.Rand // for the models with the colour "random"
	errs     []error
	reported map[string]bool // the texts of errs and of the world's warnings

	fiducials []fiducial
	fans      map[fan][]Vec // the directions of rays

	sections map[*body]*syntax.Section // of fixtures and movers
}

// fail records an error about a field of s: one error for all sections that have the field from one define.
func (l *loader) fail(s *syntax.Section, field, format string, args ...any) {
	err := s.Errorf(field, format, args...)
	if text := err.Error(); !l.reported[text] {
		l.reported[text] = true
		l.errs = append(l.errs, err)
	}
}

// check is fail unless ok.
func (l *loader) check(ok bool, s *syntax.Section, field, format string, args ...any) {
	if !ok {
		l.fail(s, field, format, args...)
	}
}

// warn records a warning about s, in the manner of fail.
func (l *loader) warn(s *syntax.Section, format string, args ...any) {
	if text := s.Pos.Place() + ": " + fmt.Sprintf(format, args...); !l.reported[text] {
		l.reported[text] = true
		l.world.warnings = append(l.world.warnings, text)
	}
}

// settings reads the fields of the whole world.
func (l *loader) settings(s *syntax.Section) {
	w := l.world
	w.name = s.String("name", w.name)
	w.resolution = s.Length("resolution", defaultResolution)
	l.check(w.resolution >= 0.001 && w.resolution <= 1, s, "resolution", "resolution is %v m: write 0.001 to 1", w.resolution)
	w.speed = max(0, s.Float("speedup", 1)) // Stage writes -1 for as fast as possible
	l.check(w.speed <= 1e6, s, "speedup", "speedup is %v: write how many times faster than real time, or 0 for as fast as possible", w.speed)
	w.paused = s.Bool("paused", false)
	w.lockstep.need = s.Int("lockstep", 0)
	l.check(w.lockstep.need >= 0, s, "lockstep", "lockstep is %d: write how many clients start the time, or 0", w.lockstep.need)
	quit := s.Float("quit_time", 0)
	l.check(quit >= 0 && quit <= 1e9, s, "quit_time", "quit_time is %v: write simulated seconds, or 0 for never", quit)
	w.quitAt = time.Duration(quit * float64(time.Second))
	l.geography(s)
	l.seed = uint64(s.Int("seed", 1))
	if w.origin.seed >= 0 {
		l.seed = uint64(w.origin.seed)
		fmt.Fprintf(l.digest, "seed %d ", l.seed)
	}
	w.seed = l.seed
	l.colors = rand.New(rand.NewPCG(l.seed, math.MaxUint64)) // no robot has that number
	// Settings of the GUI or of other builds of Stage.
	s.Ignore("window", "interval_sim", "interval_real", "threads", "threadpool", "show_clock", "show_clock_interval",
		"gui", "gui_interval", "real_time_mode")
}

// things reads the models at top level.
func (l *loader) things(s *syntax.Section) {
	var objects []*body
	for _, section := range s.Sections("model", "position", "environment", "bitmap", "box", "puck") {
		at, base := l.pose(section)
		if section.Type == "position" {
			l.robot(section, at, base)
			continue
		}
		if section.Type == "environment" || section.Type == "bitmap" {
			b := l.environment(section)
			b.shape()
			l.sections[b] = section
			l.world.fixtures = append(l.world.fixtures, b)
			continue
		}
		b := &body{name: section.String("name", fmt.Sprintf("%s%d", section.Name, len(l.world.fixtures)+len(objects)))}
		l.sections[b] = section
		graspable := 0.0
		if section.Type == "puck" {
			graspable = 1
		}
		b.grasp = section.Float("gripper_return", graspable) > 0
		if l.pushing(section, b, b.grasp, thingMass); b.pushable || b.grasp {
			before := len(l.errs)
			b.pose = at
			l.model(section, Pose{}, base, b, nil)
			l.check(!b.grasp || b.parts != nil || len(l.errs) > before, section, "gripper_return", "%s has no shape to grip", section.Name)
			objects = append(objects, b)
		} else {
			l.model(section, at, base, b, nil)
			l.world.fixtures = append(l.world.fixtures, b)
		}
		b.shape()
	}
	for _, section := range s.Sections("overhead") {
		l.overhead(section)
	}
	for _, r := range l.world.robots {
		l.world.bodies = append(l.world.bodies, r.body)
		if r.sonars != nil {
			r.sight = r.sonars.sight
		}
		for _, s := range r.lasers {
			r.sight = max(r.sight, s.reach+s.pose.Position().Length())
		}
		for _, g := range r.rangers {
			r.sight = max(r.sight, g.sight())
		}
	}
	l.world.bodies = append(l.world.bodies, objects...)
	intern(l.world.bodies)
	l.world.spots = make([]spot, len(l.world.bodies))
	for i, b := range l.world.bodies {
		l.world.spots[i] = *b.spot
		b.spot = &l.world.spots[i]
	}
	l.world.crowd = newCrowd(l.world.bodies, l.world.floor())
	for _, b := range slices.Concat(l.world.bodies, l.world.fixtures) {
		for _, m := range l.fiducials {
			if m.body == b {
				l.world.fiducials = append(l.world.fiducials, m)
			}
		}
	}
}

// floor returns the extent of the fixtures.
func (w *World) floor() floor.Box {
	extent := floor.BoxOf()
	for _, b := range w.fixtures {
		for _, p := range b.parts {
			for _, outline := range p.shapes {
				extent.Include(outline...)
			}
		}
	}
	return extent
}

// pushing reads whether robots can push b, and its mass and friction.
func (l *loader) pushing(s *syntax.Section, b *body, pushable bool, mass float64) {
	b.pushable = s.Bool("pushable", pushable)
	mass, friction := s.Float("mass", mass), s.Float("friction", floorFriction)
	l.check(mass >= 0 && friction >= 0, s, "mass", "mass, friction: write no negative numbers")
	b.resistance = mass * friction
}

// pose returns the pose of s in its parent's frame, and its height.
func (l *loader) pose(s *syntax.Section) (at Pose, z float64) {
	at, z = l.place(s, "pose", 0, 0, 0)
	at.Heading = floor.Wrap(at.Heading)
	return at, z
}

// checkRoom warns about robots that cannot move because they overlap something at the start.
func (l *loader) checkRoom() {
	for _, r := range l.world.robots {
		if l.world.blocked(r.body) {
			l.warn(l.sections[r.body], "robot %s starts inside something and cannot move", r.Name)
		}
	}
}

// nameRedefined makes one warning for all defines that replace others.
func (l *loader) nameRedefined() {
	if again := l.file.Redefined(); again != nil {
		e := again[0]
		text := fmt.Sprintf("%s:%d: %v: the later define counts from there on", e.File, e.Line, e.Err)
		if len(again) > 1 {
			text += fmt.Sprintf("; and %d more defines of names that have one", len(again)-1)
		}
		l.world.warnings = append(l.world.warnings, text)
	}
}

// nameIgnored makes a warning for each name that was not read, with its first place in the
// file. A log line may be cut after 256 bytes, so the name comes first.
func (l *loader) nameIgnored() {
	type word struct{ what, name, kind, near string }
	ignored := l.file.Ignored()
	count := map[word]int{}
	for _, i := range ignored {
		count[word{i.What, i.Name, i.Type, i.Near}]++
	}
	words, named := len(count), 0
	for _, i := range ignored {
		w := word{i.What, i.Name, i.Type, i.Near}
		n := count[w]
		if n == 0 { // named already
			continue
		}
		if delete(count, w); named == maxNamed {
			continue
		}
		named++
		text := fmt.Sprintf("%s %.40q", i.What, i.Name)
		if i.Type != "" {
			text += fmt.Sprintf(" (%.40s)", i.Type)
		}
		text += " is not supported and ignored"
		if i.Near != "" {
			text += fmt.Sprintf("; did you mean %q?", i.Near)
		}
		if text += ": " + i.Place(); n > 1 {
			text += fmt.Sprintf(" and %d more", n-1)
		}
		l.world.warnings = append(l.world.warnings, text)
	}
	if words > named {
		l.world.warnings = append(l.world.warnings, fmt.Sprintf("%d more words are not supported and ignored", words-named))
	}
}
