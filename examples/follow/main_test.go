package main

import (
	"testing"

	"player/codec"
)

// ball returns the blob of a ball.
func ball(x, size int) []codec.Blob {
	return []codec.Blob{{X: x, Y: 60, Left: x - size/2, Right: x - size/2 + size - 1, Top: 60, Bottom: 60 + size - 1}, {X: 5, Right: 2}}
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		name        string
		blobs       []codec.Blob
		speed, turn int
	}{
		{"far ahead", ball(80, 10), 300, 0},
		{"a little too far", ball(80, 24), 100, 0},
		{"there", ball(80, 29), 0, 0},
		{"there, and to the right", ball(100, 30), 0, -10},
		{"too near", ball(80, 60), -200, 0},
		{"far to the left", ball(20, 10), 0, 30},
		{"at the edge", ball(159, 10), 0, -39},
		{"cut by the edge", []codec.Blob{{X: 60, Left: 55, Right: 59, Top: 0, Bottom: 29}}, 0, 10},
	} {
		f := follower{size: 30}
		if speed, turn, does := f.next(c.blobs); speed != c.speed || turn != c.turn {
			t.Errorf("%s: %d mm/s, %d degrees/s (%s), want %d, %d", c.name, speed, turn, does, c.speed, c.turn)
		}
	}
}

// A ball that is gone for a moment does not move the robot. It is searched for where it was.
func TestSearch(t *testing.T) {
	for x, want := range map[int]int{150: -30, 10: 30} {
		f := follower{size: 30}
		f.next(ball(x, 10))
		for range patience {
			if speed, turn, _ := f.next(nil); speed != 0 || turn != 0 {
				t.Fatalf("lost for a moment: %d, %d", speed, turn)
			}
		}
		if speed, turn, _ := f.next(nil); speed != 0 || turn != want {
			t.Errorf("lost at %d: %d, %d", x, speed, turn)
		}
	}
}
