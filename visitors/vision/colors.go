package main

import (
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"go.uber.org/zap"

	"player/codec"
	"player/visitors/vision/blobs"
)

const (
	// maxUndo is how many changes can be taken back: more than a user remembers.
	maxUndo = 50
	// maxName is the length of the longest name of a colour, in characters: a row of the page
	// has room for it.
	maxName = 32
	// palest is the least saturation of a calibrated colour, percent. A thing with a median
	// below 20 is grey, and its ranges would have most of a room in them.
	palest = 12
)

var (
	errNothing   = errors.New("there is nothing to undo")
	errNoChannel = fmt.Errorf("all %d channels have a colour: delete one", codec.VisionChannels)
	errGrey      = errors.New("the thing you clicked is grey, white or black: only colours are found")
)

// colors are the colours to find: the colours of a file, which may change while it is in use,
// with the page's later changes.
type colors struct {
	path string
	none bool // there may be no colours, and no file: the page makes them
	log  *zap.Logger

	mu     sync.Mutex
	seen   fs.FileInfo // the file at the latest picture; nil: none
	read   fs.FileInfo // the file that was read or written last; nil: none
	list   []blobs.Color
	latest *blobs.Finder   // of list; nil: nothing was read
	undo   [][]blobs.Color // lists of before, oldest first
	saved  []blobs.Color   // the colours in the file
}

// finder returns a finder of the colours. When the file has changed, its colours replace the
// previous ones. If it cannot be read any more, or has mistakes, that is logged, and the
// previous colours stay.
func (c *colors) finder() (*blobs.Finder, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, err := os.Stat(c.path)
	if same(now, c.read) {
		return c.latest, nil
	}
	// An editor may be about to write it: it is read when it is the same for two pictures.
	complete := err == nil && same(now, c.seen)
	if c.seen = now; !complete && c.latest != nil {
		return c.latest, nil
	}
	var list []blobs.Color
	switch {
	case err == nil:
		if list, err = blobs.ReadColors(c.path); err == nil && len(list) == 0 && !c.none {
			err = fmt.Errorf("%s has no color ( name ... )", c.path)
		}
	case c.none && errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	c.read = now
	first := c.latest == nil
	if err == nil {
		err = c.use(list)
	}
	switch {
	case err == nil && first:
		c.undo, c.saved = nil, list
	case err == nil:
		c.saved = list
		c.log.Info("the colours have changed", zap.String("file", c.path))
	case first:
		return nil, err
	default:
		c.log.Warn("the colours stay as before", zap.Error(err))
	}
	return c.latest, nil
}

// same reports whether a file is there, and has not been written in between.
func same(a, b fs.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// use has the colours of a list found from the next picture on. The caller has the mutex.
func (c *colors) use(list []blobs.Color) error {
	finder, err := blobs.NewFinder(list)
	if err != nil {
		return err
	}
	c.undo = append(c.undo, c.list)
	c.undo = c.undo[max(0, len(c.undo)-maxUndo):]
	c.list, c.latest = list, finder
	return nil
}

// palette has the colours for the page.
type palette struct {
	list    []blobs.Color
	undo    bool // something can be undone
	unsaved bool // the file has other colours
}

func (c *colors) palette() palette {
	c.mu.Lock()
	defer c.mu.Unlock()
	return palette{c.list, len(c.undo) > 0, !slices.Equal(c.list, c.saved)}
}

// index returns where the colour of a channel is in the list, or -1. The caller has the
// mutex.
func (c *colors) index(channel int) int {
	return slices.IndexFunc(c.list, func(color blobs.Color) bool { return color.Channel == channel })
}

// take adds the colour of a part of a picture: the colour of the channel is widened by it,
// or, if channel is -1, it becomes a new colour. It returns the channel.
func (c *colors) take(m *image.YCbCr, part image.Rectangle, channel int) (int, error) {
	samples := blobs.Samples(m, part)
	if len(samples) == 0 {
		return 0, errors.New("that is not in the picture")
	}
	taken := blobs.Calibrated("", 0, samples)
	if taken.Saturation.Low < palest {
		return 0, errGrey
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.Clone(c.list)
	if channel >= 0 {
		i := c.index(channel)
		if i < 0 {
			return 0, noColor(channel)
		}
		list[i] = list[i].Widened(taken)
		return channel, c.use(list)
	}
	for taken.Channel < codec.VisionChannels && c.index(taken.Channel) >= 0 {
		taken.Channel++
	}
	if taken.Channel == codec.VisionChannels {
		return 0, errNoChannel
	}
	taken.Name = fmt.Sprintf("colour %d", taken.Channel)
	return taken.Channel, c.use(append(list, taken))
}

// name gives the colour of a channel a name.
func (c *colors) name(channel int, name string) error {
	bad := func(r rune) bool { return r == '"' || !unicode.IsPrint(r) }
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, bad) {
		return fmt.Errorf("a name has 1 to %d characters, and no quotes", maxName)
	}
	return c.edit(channel, func(list []blobs.Color, i int) []blobs.Color {
		list[i].Name = name
		return list
	})
}

// remove removes the colour of a channel.
func (c *colors) remove(channel int) error {
	return c.edit(channel, func(list []blobs.Color, i int) []blobs.Color { return slices.Delete(list, i, i+1) })
}

// edit changes a copy of the list; i is where the colour of the channel is.
func (c *colors) edit(channel int, fn func(list []blobs.Color, i int) []blobs.Color) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.index(channel)
	if i < 0 {
		return noColor(channel)
	}
	return c.use(fn(slices.Clone(c.list), i))
}

func noColor(channel int) error { return fmt.Errorf("channel %d has no colour", channel) }

// back undoes the last change.
func (c *colors) back() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.undo) == 0 {
		return errNothing
	}
	last, before := c.undo[len(c.undo)-1], c.undo[:len(c.undo)-1]
	err := c.use(last)
	if err == nil {
		c.undo = before
	}
	return err
}

// save writes the file.
func (c *colors) save() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := blobs.WriteColors(c.path, c.list); err != nil {
		return err
	}
	c.saved = c.list
	now, err := os.Stat(c.path)
	c.read = now
	return err
}
