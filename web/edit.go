package web

import (
	"context"
	"time"

	"player/devices/stage"
)

// edit is a change of the draft of a page: one of these. Without any of them it changes
// nothing. A thing is an index of stage.Draft.Starts.
type edit struct {
	Move *struct {
		Thing         int
		X, Y, Heading float64 // metres, radians
	} `json:"move"`
	Delete *int `json:"delete"`
	Add    *struct {
		Kind          string
		X, Y, Heading float64
	} `json:"add"`
	Wall *struct{ From, To stage.Vec } `json:"wall"`
	Undo bool                          `json:"undo"`
}

// draft is sent to a page after each edit.
type draft struct {
	Scene  *scene       `json:"scene,omitempty"` // nil after an error
	Starts []stage.Pose `json:"starts"`          // of the fixtures, then of the movers
	Kinds  []string     `json:"kinds"`           // that can be added
	Text   string       `json:"text"`            // of the world file
	Error  string       `json:"error"`           // why nothing was changed
}

// edit changes the draft of the page, which is made when it is first needed.
func (o *observer) edit(ctx context.Context, e edit) error {
	// A draft of a large world takes much memory until it is made: one at a time.
	o.server.drafting.Lock()
	start := time.Now()
	err := o.changeDraft(e)
	o.server.drafting.Unlock()
	o.socket.account.owe(time.Since(start))
	reply := draft{}
	if err != nil {
		reply.Error = err.Error()
	} else {
		reply = draft{Scene: new(newScene(o.draft.World)), Starts: o.draft.Starts(), Kinds: o.draft.Kinds(), Text: o.draft.Text()}
	}
	return o.socket.sendJSON(ctx, struct {
		Draft draft `json:"draft"`
	}{reply})
}

func (o *observer) changeDraft(e edit) (err error) {
	d := o.draft
	if d == nil {
		// The file and its text are constant: this does not need the loop.
		if d, err = o.server.config.World.Draft(); err != nil {
			return err
		}
	}
	switch {
	case e.Move != nil:
		d, err = d.Move(e.Move.Thing, stage.Pose{X: e.Move.X, Y: e.Move.Y, Heading: e.Move.Heading})
	case e.Delete != nil:
		d, err = d.Delete(*e.Delete)
	case e.Add != nil:
		d, err = d.Add(e.Add.Kind, stage.Pose{X: e.Add.X, Y: e.Add.Y, Heading: e.Add.Heading})
	case e.Wall != nil:
		d, err = d.AddWall(e.Wall.From, e.Wall.To)
	case e.Undo:
		d, err = d.Undo()
	}
	if err == nil {
		o.draft = d
	}
	return err
}
