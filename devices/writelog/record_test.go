package writelog

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"player/e2e/must"
)

// startedAt is the time at which the clock of the rig is stopped.
const startedAt = 100 * ms

// manual is a recorder that waits for Record.
func manual(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, filepath.Join(t.TempDir(), "run.mcap"), megabyte, 3, false, 0)
	if err := r.driver.Record(startedAt, true); !errors.Is(err, errAlways) {
		t.Error(err)
	}
	r.driver.manual = true
	r.record(false)
	r.awaitEnd()
	return r
}

func (r *rig) record(on bool) {
	r.t.Helper()
	must.Do(r.t, r.driver.Record(startedAt, on))
}

// awaitEnd waits for the end of a recording.
func (r *rig) awaitEnd() {
	r.t.Helper()
	now := startedAt
	r.await("the end", func() bool {
		now += 10 * ms
		r.wake(now)
		return r.driver.state == waiting
	})
	if at := r.host.at[r.link]; at != 0 {
		r.t.Errorf("it wakes at %v, though it does not record", at)
	}
}

func TestRecord(t *testing.T) {
	r := manual(t)
	r.position.Publish(200*ms, []byte("not recorded"))
	if got := r.driver.Recording(); got.On || !got.Manual || got.File != r.path || got.Messages != 0 {
		t.Errorf("%+v", got)
	}
	r.record(true)
	r.position.Publish(300*ms, []byte("first"))
	r.record(true) // again: no effect
	r.sonar.Publish(310*ms, []byte("run"))
	if got := r.driver.Recording(); !got.On || got.Messages != 2 || got.Bytes != 8 || got.Since != r.driver.clock() {
		t.Errorf("%+v", got)
	}
	r.record(false)
	if r.driver.state == ending {
		if err := r.driver.Record(startedAt, true); !errors.Is(err, errBusy) {
			t.Error(err)
		}
	}
	r.awaitEnd()
	r.record(false)
	r.position.Publish(400*ms, []byte("not recorded"))
	if got := read(t, r.path); !slices.Equal(got, []string{`300ms /position "first"`, `310ms /sonar "run"`}) {
		t.Error(strings.Join(got, "\n"))
	}

	r.record(true)
	r.position.Publish(500*ms, []byte("second"))
	r.stop(600 * ms)
	if got := read(t, r.path); !slices.Equal(got, []string{`500ms /position "second"`}) {
		t.Error(strings.Join(got, "\n"))
	}
	if got := read(t, older(r.path, 1)); len(got) != 2 {
		t.Error(strings.Join(got, "\n"))
	}
	if err := r.driver.Record(startedAt, true); !errors.Is(err, errOff) {
		t.Error(err)
	}
}

func TestShutdownWithoutRecording(t *testing.T) {
	manual(t).stop(time.Minute)
	r := manual(t)
	r.record(true)
	r.position.Publish(300*ms, []byte("p"))
	r.record(false)
	r.stop(time.Minute) // perhaps before the disk is done
	if got := read(t, r.path); len(got) != 1 {
		t.Error(strings.Join(got, "\n"))
	}
}
