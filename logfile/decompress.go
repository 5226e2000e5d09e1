package logfile

import (
	"io"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// decompressors replaces the library's decompressors, which allocate as much
// memory as a chunk claims to need.
func decompressors() (map[mcap.CompressionFormat]mcap.ResettableReader, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxChunk))
	if err != nil { // only for invalid options of ours
		return nil, err
	}
	l := lz4.NewReader(nil)
	return map[mcap.CompressionFormat]mcap.ResettableReader{
		mcap.CompressionZSTD: &bounded{r: z, reset: z.Reset},
		mcap.CompressionLZ4:  &bounded{r: l, reset: func(in io.Reader) error { l.Reset(in); return nil }},
	}, nil
}

// bounded is a decompressor that produces at most maxChunk bytes from a chunk.
type bounded struct {
	r     io.Reader
	reset func(io.Reader) error
	made  int // bytes
}

func (b *bounded) Reset(in io.Reader) error {
	b.made = 0
	return b.reset(in)
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.made += n; b.made > maxChunk {
		return 0, mcap.ErrChunkTooLarge
	}
	return n, err
}
