// Follow follows a ball by the blobs of vision: it turns to the largest blob of a channel,
// drives at it, and stands where the blob is of a given size, so that it backs off if the ball
// comes nearer. Without a blob it searches, towards where the ball was last. While the pictures
// are old it stands. Ctrl-C stops it. It looks at nothing but the ball: keep its way free.
//
//	go run ./examples/follow -addr pi:6665 -channel 0
//
// docs/devices/vision.md has the way from the camera to the channel.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"player/client"
	"player/codec"
)

const (
	// middle is the column that is straight ahead: vision reports an image of 160 by 120.
	middle = 80
	// oldest is how old data may be that is driven by: at 300 mm/s the robot goes 150 mm
	// meanwhile.
	oldest = 500 * time.Millisecond
	// patience is how many rounds without a blob are stood through before the search: a
	// single picture may be blurred.
	patience = 5
)

func main() {
	addr := flag.String("addr", "localhost:6665", "`host:port` of the Player server")
	channel := flag.Int("channel", 0, "channel of the ball's colour, 0 to 31")
	size := flag.Int("size", 30, "width of the ball in the image of 160 `pixels` where the robot stands, 5 to 100")
	flag.Parse()
	if *channel < 0 || *channel >= codec.VisionChannels || *size < 5 || *size > 100 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := drive(ctx, *addr, *channel, *size); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "follow:", err)
		os.Exit(1)
	}
}

func drive(ctx context.Context, addr string, channel, size int) error {
	robot, err := client.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer robot.Close()
	if err := robot.Request(ctx, "vrpwyr"); err != nil { // vision read, position write, ages of the data
		return err
	}
	// If this program hangs the robot stops, and at its end it stops no other program's robot.
	if err := robot.SetCommandLifetime(time.Second); err != nil {
		return err
	}
	defer robot.SetSpeed(0, 0) // whatever happens: stop

	f := follower{size: size, missing: patience}
	was := ""
	for {
		if err := robot.Read(ctx); err != nil {
			return err
		}
		age, known := robot.Age('v')
		speed, turn, does := 0, 0, "waits for new pictures"
		if robot.Has('v') && known && age < oldest {
			speed, turn, does = f.next(robot.Vision.Channel(channel))
		}
		if does != was {
			fmt.Println(does)
			was = does
		}
		if err := robot.SetSpeed(speed, turn); err != nil {
			return err
		}
	}
}

// follower follows the largest blob.
type follower struct {
	size    int  // of the ball where the robot stands, pixels
	missing int  // rounds since there was a blob
	right   bool // where the blob was last
}

// next returns the speed, mm/s, the turn rate, degrees/s, positive to the left, and the
// robot's action, for the blobs of a round, largest first.
func (f *follower) next(blobs []codec.Blob) (speed, turn int, does string) {
	if len(blobs) == 0 {
		f.missing++
		switch {
		case f.missing <= patience:
			return 0, 0, "has lost the ball"
		case f.right:
			return 0, -30, "searches to the right"
		default:
			return 0, 30, "searches to the left"
		}
	}
	ball := blobs[0]
	f.missing, f.right = 0, ball.X > middle
	off := middle - ball.X // positive: the ball is to the left
	turn = clip(off/2, 40)
	if max(off, -off) > middle/2 {
		return 0, turn, "turns to the ball" // driving at its side would lose it
	}
	// A ball is round: of one that the edge of the image cuts, the longer side is whole. Its
	// size is one by the distance, so that size/seen is how many times too far away it is.
	seen := max(ball.Right-ball.Left, ball.Bottom-ball.Top) + 1
	tooFar := 100*f.size/seen - 100 // percent
	if max(tooFar, -tooFar) <= 10 {
		return 0, turn, "is at the ball"
	}
	return clip(4*tooFar, 300), turn, "follows the ball"
}

// clip returns v, within -most and most.
func clip(v, most int) int { return max(-most, min(v, most)) }
