package dashboard

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"player/config/rights"
	"player/devices/stage"
	"player/e2e/must"
	"player/visitors"
)

// A page edits the world file and gets the text; the world that runs stays as it is.
func TestEdit(t *testing.T) {
	l := newLab(t, nil)
	p := l.open("/world", "")
	p.await("movers")
	changes := 0.0
	edit := func(format string, args ...any) map[string]any {
		t.Helper()
		p.Send(`{"edit":{"base":%v,`+format+`}}`, append([]any{changes}, args...)...)
		d := p.await("draft").(map[string]any)
		changes = d["changes"].(float64)
		return d
	}
	d := edit(`"undo":false`)
	fixtures := len(d["scene"].(map[string]any)["fixtures"].([]any))
	if starts := d["starts"].([]any); len(starts) != fixtures+2 {
		t.Fatalf("%d poses of %d fixtures and two movers", len(starts), fixtures)
	}
	if d := edit(`"move":{"thing":%d,"x":4,"y":0}`, fixtures); !strings.HasPrefix(d["error"].(string), stage.ErrNoRoom.Error()) || d["scene"] != nil {
		t.Errorf("into the wall: %v", d["error"])
	}
	edit(`"move":{"thing":%d,"x":1,"y":0.5,"heading":1}`, fixtures) // the robot
	edit(`"wall":{"from":{"x":-1,"y":0},"to":{"x":-1,"y":1}}`)
	edit(`"add":{"kind":"pioneer2dx","x":2,"y":-1}`)
	edit(`"delete":0`)
	d = edit(`"undo":true`)
	if d["error"] != "" {
		t.Fatal(d["error"])
	}
	if l.Pose() != (stage.Pose{X: -2, Y: -1.5}) {
		t.Errorf("the robot that runs is at %v", l.Pose())
	}
	path := filepath.Join(t.TempDir(), "new.world")
	must.Do(t, os.WriteFile(path, []byte(d["text"].(string)), 0o666))
	w := must.Get(stage.Load(path))(t)
	if robots := w.Robots(); len(robots) != 2 || robots[0].Pose().X != 1 || len(w.Fixtures()) != fixtures+1 {
		t.Errorf("%d robots, %d fixtures", len(robots), len(w.Fixtures()))
	}
}

// There is one draft for all pages, and it stays when they have gone. A page's change is
// refused if the page does not know the newest draft: its indices may name other things.
func TestDraftOfTwoPages(t *testing.T) {
	l := newLab(t, nil)
	edit := func(p *tab, what string) map[string]any {
		t.Helper()
		p.Send(`{"edit":%s}`, what)
		return p.await("draft").(map[string]any)
	}
	first := l.open("/world", "")
	first.await("movers")
	d := edit(first, `{}`)
	if d["edited"] != false || d["undo"] != false || d["changes"] != 1.0 {
		t.Fatalf("at first: %v, %v changes", d["edited"], d["changes"])
	}
	if d := edit(first, `{"base":1,"delete":0}`); d["edited"] != true || d["undo"] != true || d["error"] != "" {
		t.Fatalf("deleted: %v", d["error"])
	}
	first.CloseNow()
	second := l.open("/world", "")
	second.await("movers")
	if d := edit(second, `{"base":1,"delete":0}`); !strings.Contains(d["error"].(string), "another page") || d["scene"] == nil || d["changes"] != 2.0 {
		t.Errorf("a change of what is no more: %v", d["error"])
	}
	if d := edit(second, `{"base":2,"undo":true}`); d["edited"] != false || d["undo"] != false || d["error"] != "" {
		t.Errorf("undone: %v, %v", d["edited"], d["error"])
	}
}

// A visitor with the right to read cannot edit, nor see the file.
func TestEditNeedsWrite(t *testing.T) {
	l := newLab(t, rights.Rules{{Allow: rights.Read, From: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}})
	p := l.open("/world", "")
	p.Send(`{"edit":{}}`)
	if why := p.await("error").(string); !strings.Contains(why, visitors.NotAllowed) {
		t.Errorf("an edit: %q", why)
	}
}

// Edits of all pages together take a bounded part of the thread, one after the other. They
// do not wait for a page that has left.
func TestEditsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDrafting()
		const pages, each = 10, 20 * time.Millisecond
		begin, edits := time.Now(), 0
		left, leave := context.WithCancel(t.Context())
		for i := range 2 * pages {
			ctx := t.Context()
			if i%2 == 1 {
				ctx = left
			}
			go func() {
				if err := d.inQueue(ctx, func() { edits++; time.Sleep(each) }); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		leave()
		synctest.Wait()
		must.Do(t, d.inQueue(t.Context(), func() {}))
		if d, want := time.Since(begin), time.Duration(edits)*each*draftPart; d != want || edits > pages+1 {
			t.Errorf("%d edits took %v, want %v", edits, d, want)
		}
	})
}
