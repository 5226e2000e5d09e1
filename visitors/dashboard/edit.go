package dashboard

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/coder/websocket"

	"player/devices/stage"
)

// Drafting keeps the draft of the world file: all pages change the same draft. It outlives
// the pages, their connections and a reload of the configuration, until it is reverted or
// the process ends. A page that was disconnected goes on with it.
type Drafting struct {
	id   string    // another process has another draft
	busy queue     // only the page that edits uses the other fields
	free time.Time // when the next edit begins

	draft   *stage.Draft // nil before the first edit
	changes int          // since the start of the process
}

// draftPart is the part of the thread that all edits may use together: an eighth. An
// edit draws the world anew, which takes milliseconds, or 0.1 s for the largest draft.
// Edits wait for earlier edits only; the budget of visitors does not count them. There is
// one draft at a time.
const draftPart = 8

// NewDrafting returns a Drafting without a draft.
func NewDrafting() *Drafting { return &Drafting{id: rand.Text(), busy: make(queue, 1)} }

// inQueue calls fn when all edits before it have been paid for, or returns the error of
// ctx.
func (d *Drafting) inQueue(ctx context.Context, fn func()) error {
	return d.busy.do(ctx, func() error {
		select {
		case <-time.After(time.Until(d.free)):
		case <-ctx.Done():
			return ctx.Err()
		}
		begin := time.Now()
		defer func() { d.free = begin.Add(draftPart * time.Since(begin)) }()
		fn()
		return nil
	})
}

// queue lets one caller at a time pass. It has an element while one does.
type queue chan struct{}

// do calls fn when those before it have returned, or returns the error of ctx.
func (q queue) do(ctx context.Context, fn func() error) error {
	select {
	case q <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-q }()
	return fn()
}

// errOutdated refuses an edit of a draft that has changed since the page got it: its
// indices name other things now.
var errOutdated = errors.New("another page has changed the draft meanwhile: this is the new one")

// edit is a change of the draft: one of these. Without any of them it changes nothing.
// A thing is an index of stage.Draft.Starts.
type edit struct {
	Base int `json:"base"` // draft.Changes of the draft that the page changes
	Move *struct {
		Thing         int
		X, Y, Heading float64 // metres, radians
	} `json:"move"`
	Delete *int `json:"delete"`
	Add    *struct {
		Kind          string
		X, Y, Heading float64
	} `json:"add"`
	Wall   *struct{ From, To stage.Vec } `json:"wall"`
	Undo   bool                          `json:"undo"`
	Revert bool                          `json:"revert"` // to the file as the server has loaded it
}

func (e edit) changes() bool {
	return e.Move != nil || e.Delete != nil || e.Add != nil || e.Wall != nil || e.Undo || e.Revert
}

// draft is sent to a page after each edit.
type draft struct {
	Scene   *scene       `json:"scene,omitempty"` // nil after an error, except errOutdated
	Starts  []stage.Pose `json:"starts"`          // of the fixtures, then of the movers
	Kinds   []string     `json:"kinds"`           // that can be added
	Text    string       `json:"text"`            // of the world file
	ID      string       `json:"id"`              // of the draft: another process has another
	Changes int          `json:"changes"`         // how often the draft was changed
	Edited  bool         `json:"edited"`          // it differs from the file that it began with
	Undo    bool         `json:"undo"`            // something can be undone
	Old     bool         `json:"old"`             // the server has loaded another file since
	Error   string       `json:"error"`           // why nothing was changed
}

type editor struct {
	*Drafting
	world *stage.World // only its text is used: it is constant, and needs no loop
}

// edit changes the draft, which is made when it is first needed.
func (o *observer) edit(ctx context.Context, e edit) error {
	var text []byte
	var err error
	d := o.server.editor
	if ended := d.inQueue(ctx, func() { text, err = json.Marshal(d.reply(d.world, d.change(d.world, e))) }); ended != nil {
		return ended
	}
	if err != nil {
		return err
	}
	return o.socket.WS.Write(ctx, websocket.MessageText, text)
}

// reply returns the message to a page after a change, which may have failed.
func (d *Drafting) reply(world *stage.World, err error) any {
	reply := draft{ID: d.id, Changes: d.changes}
	if err == nil || errors.Is(err, errOutdated) {
		reply.Scene, reply.Starts, reply.Kinds, reply.Text = new(newScene(d.draft.World)), d.draft.Starts(), d.draft.Kinds(), d.draft.Text()
		reply.Edited, reply.Undo, reply.Old = d.draft.Changed(), d.draft.Undoable(), !d.draft.Of(world)
	}
	if err != nil {
		reply.Error = err.Error()
	}
	return struct {
		Draft draft `json:"draft"`
	}{reply}
}

// change changes the draft, or returns an error. inQueue calls it. The text of world
// is constant: this does not need the loop.
func (d *Drafting) change(world *stage.World, e edit) (err error) {
	if d.draft == nil || !d.draft.Changed() && !d.draft.Of(world) {
		if d.draft, err = world.Draft(); err != nil {
			return err
		}
		d.changes++
	}
	if !e.changes() {
		return nil
	}
	if e.Base != d.changes {
		return errOutdated
	}
	next := d.draft
	switch {
	case e.Move != nil:
		next, err = next.Move(e.Move.Thing, stage.Pose{X: e.Move.X, Y: e.Move.Y, Heading: e.Move.Heading})
	case e.Delete != nil:
		next, err = next.Delete(*e.Delete)
	case e.Add != nil:
		next, err = next.Add(e.Add.Kind, stage.Pose{X: e.Add.X, Y: e.Add.Y, Heading: e.Add.Heading})
	case e.Wall != nil:
		next, err = next.AddWall(e.Wall.From, e.Wall.To)
	case e.Undo:
		next, err = next.Undo()
	case e.Revert:
		next, err = next.Revert(world)
	}
	if err != nil {
		return err
	}
	d.draft = next
	d.changes++
	return nil
}
