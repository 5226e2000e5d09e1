package drive

import "time"

const (
	// repeatLimit is how long a key counts. A terminal repeats a key that stays pressed
	// after 0.25 to 0.5 s, then 20 to 30 times a second.
	repeatLimit = 500 * time.Millisecond
	// maxSpeed, in mm/s, and maxTurn, in degrees a second, bound the speeds that + chooses.
	// Servers also limit speeds.
	maxSpeed, maxTurn = 2000, 300
	// step is how much + and - change both, in per cent.
	step = 20
	// pauseLimit is how long one round of the program's loop takes at most, unless the
	// program was paused. Keys from before a pause do not drive: another program may drive by now.
	pauseLimit = 300 * time.Millisecond
	// deafTime is for keys from before a pause that are still on their way from the terminal.
	deafTime = 50 * time.Millisecond
)

// key is a key that was pressed.
type key uint8

const (
	stopKey key = iota // space, and every key without another meaning
	forwardKey
	backwardKey
	leftKey
	rightKey
	fasterKey
	slowerKey
	quitKey
)

// motion is a command: mm/s forward, degrees a second counterclockwise.
type motion struct{ speed, turn int }

// wheels makes motions of keys. The two axes expire by themselves, because a
// terminal repeats only the last of two keys that stay pressed.
type wheels struct {
	speed, turn       int // chosen
	forward, left     int // -1, 0 or 1
	forwardAt, leftAt time.Time
	roundAt           time.Time // when the latest round of the loop began
	deafUntil         time.Time // keys until then do nothing, except stop
}

// roundBegins is called in each round of the program's loop. After a pause the wheels stop,
// and keys do not drive for deafTime.
func (w *wheels) roundBegins(now time.Time) {
	if !w.roundAt.IsZero() && now.Sub(w.roundAt) > pauseLimit {
		w.press(stopKey, now)
		w.deafUntil = now.Add(deafTime)
	}
	w.roundAt = now
}

// press takes a key.
func (w *wheels) press(k key, now time.Time) {
	if k != stopKey && now.Before(w.deafUntil) {
		return
	}
	switch k {
	case forwardKey, backwardKey:
		w.forward, w.forwardAt = 1, now
		if k == backwardKey {
			w.forward = -1
		}
	case leftKey, rightKey:
		w.left, w.leftAt = 1, now
		if k == rightKey {
			w.left = -1
		}
	case fasterKey:
		w.speed, w.turn = min(w.speed+w.speed*step/100+1, maxSpeed), min(w.turn+w.turn*step/100+1, maxTurn)
	case slowerKey:
		w.speed, w.turn = max(w.speed-w.speed*step/100-1, 1), max(w.turn-w.turn*step/100-1, 1)
	default:
		w.forward, w.left = 0, 0
	}
}

// motion returns the motion of the keys that count at now.
func (w *wheels) motion(now time.Time) (m motion) {
	if now.Sub(w.forwardAt) < repeatLimit {
		m.speed = w.forward * w.speed
	}
	if now.Sub(w.leftAt) < repeatLimit {
		m.turn = w.left * w.turn
	}
	return m
}

// keyboard makes keys of the bytes of a terminal.
type keyboard struct{ sequence int } // bytes of an arrow's ESC [ or ESC O so far

// next adds a byte; ok is false in the middle of a sequence.
func (b *keyboard) next(c byte) (k key, ok bool) {
	switch {
	case c == '\x1b':
		b.sequence = 1
		return 0, false
	case b.sequence == 1 && (c == '[' || c == 'O'):
		b.sequence = 2
		return 0, false
	case b.sequence == 2:
		if c >= '0' && c <= '?' { // a parameter, for example in ESC [ 1 ; 5 A (ECMA-48 5.4)
			return 0, false
		}
		b.sequence = 0
		return map[byte]key{'A': forwardKey, 'B': backwardKey, 'C': rightKey, 'D': leftKey}[c], true
	}
	b.sequence = 0
	return map[byte]key{
		'w': forwardKey, 's': backwardKey, 'a': leftKey, 'd': rightKey, '+': fasterKey, '=': fasterKey, '-': slowerKey,
		'q': quitKey, ctrlC: quitKey, ctrlD: quitKey, ctrlBackslash: quitKey,
	}[c], true
}

// alone reports whether the last byte was an Esc, which is a key if no byte follows.
func (b *keyboard) alone() bool { return b.sequence == 1 }

// Control characters that a terminal in raw mode passes on.
const (
	ctrlC         = 3
	ctrlD         = 4
	ctrlBackslash = 28
)
