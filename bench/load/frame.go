package load

import "player/codec"

// Frame returns a frame of the given size in bytes as the baselines send it:
// all seven devices, zeroed, with the laser's block as large as it takes
// (PROTOCOL 7). It panics if the size is less than the other six.
func Frame(size int) []byte {
	var b []byte
	for _, d := range []struct {
		letter byte
		size   int
	}{
		{codec.Sonar, codec.SonarSize}, {codec.Position, codec.PositionSize}, {codec.Gripper, codec.GripperSize},
		{codec.Misc, codec.MiscSize}, {codec.Vision, 0}, {codec.PTZ, codec.PTZSize},
	} {
		b = codec.AppendBlock(b, d.letter, make([]byte, d.size))
	}
	return codec.AppendBlock(b, codec.Laser, make([]byte, size-len(b)-codec.BlockHeaderSize))
}
