package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices/retry"
	"player/visitors/pictures"
	"player/visitors/vision/blobs"
)

// serve reports the blobs of each picture to the server until ctx ends. A failure before the
// first report refuses the device. Later the device keeps its last data while nothing can be
// reported, and the log has the reason.
func serve(ctx context.Context, t *tracker, out io.Writer, log *zap.Logger) error {
	var policy retry.Retry
	began, ready := time.Now(), false
	for {
		report, err := t.next(ctx)
		now := time.Since(began)
		if err != nil && ctx.Err() == nil && t.shown != nil {
			t.shown.fail(err)
		}
		switch {
		case ctx.Err() != nil: // the server stops it
			return nil
		case err != nil && !ready:
			return errors.Join(err, refuse(out, err))
		case err != nil:
			select {
			case <-ctx.Done():
			case <-time.After(policy.Failed(now, log, err) - now):
			}
			continue
		}
		policy.Worked(now, log)
		ready = true
		if _, err := out.Write(report); err != nil {
			return fmt.Errorf("the server does not listen: %w", err)
		}
	}
}

// refuse reports to the server why there is no vision (PROTOCOL 8.9.1).
func refuse(out io.Writer, why error) error {
	reason := codec.Reason{Device: codec.Vision, Why: codec.WhyHardware, Text: strings.ReplaceAll(why.Error(), "\n", " ")}
	refusal := codec.AppendAnswer(nil, codec.QuestionRefusals, []string{reason.Line(string(codec.Vision))})
	_, err := out.Write(codec.AppendBlock(refusal, codec.KindReply, []byte{codec.Vision, codec.AccessError}))
	return err
}

// tracker makes reports of pictures.
type tracker struct {
	camera *pictures.Camera
	colors *colors
	shown  *shown // the data for the page; nil: there is no page

	number   uint64 // of the last picture
	found    codec.VisionData
	payload  []byte
	reported []byte
}

// next waits for a picture and returns its report, a block of vision, which is valid until the
// next call.
func (t *tracker) next(ctx context.Context) ([]byte, error) {
	finder, err := t.colors.finder()
	if err != nil {
		return nil, err
	}
	picture, err := t.camera.Next(ctx, t.number)
	if err != nil {
		return nil, err
	}
	t.number = picture.Number
	m, err := blobs.Decode(picture.JPEG)
	if err != nil {
		return nil, fmt.Errorf("a picture cannot be read: %w", err)
	}
	finder.Find(m, &t.found)
	if t.shown != nil {
		t.shown.put(picture.Number, picture.JPEG, m.Rect.Size(), &t.found)
	}
	blobs.Scale(&t.found, m.Rect.Size())
	t.payload = t.found.Append(t.payload[:0])
	t.reported = codec.AppendBlock(t.reported[:0], codec.Vision, t.payload)
	return t.reported, nil
}
