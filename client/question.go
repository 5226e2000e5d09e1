package client

import (
	"context"
	"errors"
	"fmt"

	"player/codec"
)

// ErrUnknownQuestion is the error if the server does not know a question. The original
// server knows none.
var ErrUnknownQuestion = errors.New("the server does not know this question")

// Ask asks the server a question and returns the lines of its answer (PROTOCOL 8.9). The
// answer to codec.QuestionObstacles lists what blocks this client's commands and data now.
// It waits as Request does. Request itself asks for the reasons of refused devices.
func (c *Client) Ask(ctx context.Context, question byte) (lines []string, err error) {
	if c.first == nil { // the reply to a request shows that this is a Player
		if _, err := c.roundTrip(ctx, ""); err != nil {
			return nil, fmt.Errorf("question %q: %w", question, err)
		}
	}
	c.answer = c.answer[:0]
	cfg := codec.Config{Code: codec.ConfigQuestion, Arg: uint16(question)}
	if err := c.queue(codec.KindConfig, codec.Server, cfg.Append(nil)); err != nil {
		return nil, fmt.Errorf("question %q: %w", question, err)
	}
	// Every server answers an empty request, and the answer comes before.
	if _, err := c.roundTrip(ctx, ""); err != nil {
		return nil, fmt.Errorf("question %q: %w", question, err)
	}
	if to, lines := codec.Answer(c.answer); to == question {
		return lines, nil
	}
	return nil, ErrUnknownQuestion
}

// Geometry asks the server for the places and sizes of the parts of its robot's devices, and
// for the areas that they cover. A device without known geometry has no part.
func (c *Client) Geometry(ctx context.Context) (parts []codec.Part, err error) {
	lines, err := c.Ask(ctx, codec.QuestionGeometry)
	for _, line := range lines {
		if p, ok := codec.ParsePart(line, codec.Letters); ok {
			parts = append(parts, p)
		}
	}
	return parts, err
}

// explain adds the reasons to refused devices. A reason that cannot be obtained stays empty:
// the refusal stands.
func (c *Client) explain(ctx context.Context, refused []Access) {
	lines, err := c.Ask(ctx, codec.QuestionRefusals)
	if err != nil {
		return
	}
	for _, line := range lines {
		reason, ok := codec.ParseReason(line, codec.Letters)
		for i := range refused {
			if a := &refused[i]; ok && a.Device == reason.Device && a.Granted == codec.AccessError {
				a.Why, a.Text = reason.Why, reason.Text
			}
		}
	}
}
