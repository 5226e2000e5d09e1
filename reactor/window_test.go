package reactor

import (
	"testing"
	"time"
)

func TestWindowShrinksWhileDeliveryStays(t *testing.T) {
	w := window{}
	now := time.Second
	w.begin(now, 50)
	if w.size != 50 {
		t.Fatalf("begins with %d, want what is in flight", w.size)
	}
	for range 30 { // a link that carries 270 frames/s whatever the window
		now += windowEpoch
		w.deliver(now, 54)
	}
	if w.size > 6 {
		t.Errorf("window %d after 6 s on a link that three fill", w.size)
	}
}

func TestWindowKeepsWhatDeliveryNeeds(t *testing.T) {
	w := window{}
	now := time.Second
	w.begin(now, 50)
	most, least := 0, 1000
	for i := range 300 { // receivers that acknowledge after 40 ms: delivery is in proportion
		now += windowEpoch
		w.deliver(now, w.size*5)
		if i > 5 && w.before == 0 {
			most, least = max(most, w.size), min(least, w.size)
		}
	}
	if least < 50 {
		t.Errorf("window fell to %d where it halves delivery", least)
	}
}

func TestWindowGrowsOnALongRoundTrip(t *testing.T) {
	w := window{}
	now := time.Second
	w.begin(now, 0)
	for range 200 { // 100 ms round trip, 270 frames/s at most: 27 frames fill it
		now += windowEpoch
		w.deliver(now, min(54, w.size*2))
	}
	if w.size < 20 || w.size > 60 {
		t.Errorf("window %d where 27 fill the link", w.size)
	}
}

// One epoch with fewer frames, as when clients come and go, does not keep the
// window from shrinking.
func TestWindowDoubtsOneBadEpoch(t *testing.T) {
	for bad := range 5 {
		w := window{}
		now := time.Second
		w.begin(now, 50)
		for epoch := range 10 {
			now += windowEpoch
			delivered := 54 // whatever the window
			if epoch == bad {
				delivered = 48
			}
			w.deliver(now, delivered)
		}
		if w.size > windowLeast {
			t.Errorf("epoch %d was a bad one: the window is %d after ten, want %d", bad, w.size, windowLeast)
		}
	}
}
