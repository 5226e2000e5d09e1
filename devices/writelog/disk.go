package writelog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"player/formats/logfile"
)

// Messages of the log, by which tests find lines.
const (
	logBegins  = "recording"
	LogStopped = "recording has stopped; the recording up to here can be read"
	logEnds    = "recording has ended"
)

const (
	// batches bounds the data that waits for the disk: over ten seconds of a robot with a
	// laser, which sends 50 KB/s. Data that comes while all are full is lost.
	batches = 16
	// batchSize is the size in bytes at which a batch is full. A batch uses that much memory
	// and one message more.
	batchSize = 64 << 10
	// syncPeriod is how much is lost at most when the power fails, if the disk is fast.
	// A shorter one wears out memory cards.
	syncPeriod = 5 * time.Second
)

// disk writes files on a goroutine of its own: a write can block for seconds on a memory
// card that other programs keep busy, and the loop must not. They have only the channels in
// common; each batch has one owner, the goroutine that has received it.
type disk struct {
	free  chan *logfile.Batch // empty batches, for the loop
	full  chan *logfile.Batch // full ones, for the disk; closed by the loop at the end
	ended chan struct{}       // closed when no file is open any more
	err   error               // why not everything is in the file; for the loop, once ended is closed

	closed bool // full is; of the loop

	path     string
	maxSize  int64 // of a file, in bytes
	maxIndex int   // memory for the index of a file, in bytes
	files    int
	info     logfile.Info
	log      *zap.Logger
	file     *os.File // nil before the first message
	writer   *logfile.Writer
	known    logfile.Batch // without messages: the descriptions so far, for the next file
	syncedAt time.Time
}

// next returns a disk that has not been started. If the driver has panicked, its run has not
// ended: it ends its file on its own.
func (d *disk) next() *disk {
	if d.full != nil && !d.closed {
		d.end()
	}
	return &disk{path: d.path, maxSize: d.maxSize, maxIndex: d.maxIndex, files: d.files, info: d.info}
}

// end has the goroutine end its file.
func (d *disk) end() {
	d.closed = true
	close(d.full)
}

// start starts the goroutine.
func (d *disk) start() {
	d.free = make(chan *logfile.Batch, batches)
	d.full = make(chan *logfile.Batch, batches)
	d.ended = make(chan struct{})
	for range batches {
		d.free <- &logfile.Batch{}
	}
	go d.run()
}

// run writes batches until full is closed, or an error.
func (d *disk) run() {
	defer close(d.ended)
	messages, err := 0, error(nil)
	for b := range d.full {
		if err = d.write(b); err != nil {
			break
		}
		messages += b.Len()
		b.Reset()
		d.free <- b
	}
	if d.file == nil && err == nil {
		return // nothing was recorded
	}
	if err == nil {
		err = d.close()
	} else {
		_ = d.file.Close() // it has failed already
	}
	if d.err = err; err != nil {
		d.log.Error(LogStopped, zap.Error(err), zap.Int("messages", messages))
		return
	}
	d.log.Info(logEnds, zap.String("file", d.path), zap.Int("messages", messages))
}

// write writes a batch as a chunk, in a new file if the current one is full.
func (d *disk) write(b *logfile.Batch) (err error) {
	defer recovered(&err)
	if d.file != nil && (d.writer.Size()+int64(b.Size()) > d.maxSize || d.writer.IndexMemory() > d.maxIndex) {
		if err := d.close(); err != nil {
			return err
		}
		d.file = nil
	}
	if d.file == nil {
		if err := d.open(); err != nil {
			return err
		}
	}
	d.known.Learn(b)
	if err := d.writer.WriteChunk(b); err != nil {
		return err
	}
	if now := time.Now(); now.Sub(d.syncedAt) >= syncPeriod {
		d.syncedAt = now
		return d.file.Sync()
	}
	return nil
}

// open creates a new file and rotates the older ones.
func (d *disk) open() (err error) {
	if other, err := os.Open(d.path); err == nil {
		locked := logfile.IsLocked(other)
		_ = other.Close() // it was not even read
		if locked {
			return fmt.Errorf("%s is being written by another recorder: give each a file of its own", d.path)
		}
	}
	if err := rotate(d.path, d.files); err != nil {
		return err
	}
	if d.file, err = os.OpenFile(d.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return err
	}
	logfile.Lock(d.file)
	d.syncedAt = time.Now()
	if d.writer, err = logfile.NewWriter(d.file, d.info); err == nil {
		d.writer.Describe(&d.known)
		d.log.Info(logBegins, zap.String("file", d.path))
	}
	return err
}

// recovered makes an error of a panic: it ends the recording and not the server.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the writer has panicked: %v", r)
	}
}

// close ends the file.
func (d *disk) close() (err error) {
	defer recovered(&err)
	return errors.Join(d.writer.Close(), d.file.Close())
}

// rotate makes room for a new file at path: run.mcap becomes run.1.mcap, run.1.mcap becomes
// run.2.mcap, and so on. At most files logs are kept; the oldest is deleted.
func rotate(path string, files int) error {
	if err := os.Remove(older(path, files-1)); err != nil && !os.IsNotExist(err) {
		return err
	}
	for n := files - 1; n > 0; n-- {
		if err := os.Rename(older(path, n-1), older(path, n)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// older returns the name of the file that is n files older than the one at path.
func older(path string, n int) string {
	if n == 0 {
		return path
	}
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(path, ext), n, ext)
}
