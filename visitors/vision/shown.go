package main

import (
	"context"
	"image"
	"slices"
	"sync"

	"player/codec"
	"player/visitors/pictures"
)

// keptBytes bounds the pictures that a page can still click into: eight of the largest, and
// many seconds of pictures at 320x240, longer than a user's drag over one picture.
const keptBytes = 8 * pictures.MaxPicture

// seen is a picture and the blobs found in it.
type seen struct {
	number uint64
	jpeg   []byte
	size   image.Point
	found  codec.VisionData // in pixels of the picture
}

// shown has the last pictures for the page. Its methods are safe for concurrent use.
type shown struct {
	mu      sync.Mutex
	newest  *seen
	asked   []*seen       // those that a page has asked for, oldest first
	kept    int           // bytes of them
	problem string        // why there is no newer one; empty: nothing is known
	came    chan struct{} // closed when the next one comes, or a problem
}

func newShown() *shown { return &shown{came: make(chan struct{})} }

// put takes a picture, and a copy of the blobs found in it.
func (s *shown) put(number uint64, jpeg []byte, size image.Point, found *codec.VisionData) {
	next := &seen{number, jpeg, size, codec.VisionData{Count: found.Count, Blobs: slices.Clone(found.Blobs)}}
	s.set(func() { s.newest, s.problem = next, "" })
}

// fail stores the reason why there is no picture.
func (s *shown) fail(err error) { s.set(func() { s.problem = err.Error() }) }

func (s *shown) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.came)
	s.came = make(chan struct{})
}

// next waits for a picture with another number than last, for a problem, or for the end of
// ctx. It returns the newest picture, which may be nil, and the problem.
func (s *shown) next(ctx context.Context, last uint64) (*seen, string) {
	for {
		s.mu.Lock()
		newest, problem, came := s.newest, s.problem, s.came
		fresh := newest != nil && newest.number != last
		if fresh && !slices.Contains(s.asked, newest) {
			s.asked = append(s.asked, newest)
			for s.kept += len(newest.jpeg); s.kept > keptBytes; s.asked = slices.Delete(s.asked, 0, 1) {
				s.kept -= len(s.asked[0].jpeg)
			}
		}
		s.mu.Unlock()
		if fresh || problem != "" {
			return newest, problem
		}
		select {
		case <-came:
		case <-ctx.Done():
			return newest, problem
		}
	}
}

// picture returns a picture that a page has asked for, or nil: it is gone.
func (s *shown) picture(number uint64) *seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.asked {
		if p.number == number {
			return p
		}
	}
	return nil
}
