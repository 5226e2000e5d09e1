package live

import (
	"context"
	"time"

	"player/foxglove"
	"player/pictures"
)

// failurePause is how long a viewer waits for a camera that fails. The camera itself
// decides when it is started again.
const failurePause = time.Second

// sendPictures hands the pictures of a camera to the outbox: one that a viewer has not been
// sent is replaced by the next.
func (v *viewer) sendPictures(ctx context.Context, channel uint32, robot Robot, camera *pictures.Camera) error {
	defer camera.Look()()
	for number := uint64(0); ; {
		picture, err := camera.Next(ctx, number)
		if err != nil {
			select {
			case <-ctx.Done(): // the viewer has gone, or the server ends
				return nil
			case <-time.After(failurePause):
				continue
			}
		}
		number = picture.Number
		at := picture.At.UnixNano()
		v.outbox.Put(channel, "", at, foxglove.NewImage(robot.Name, at, picture.JPEG))
	}
}
