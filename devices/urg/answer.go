package urg

// part is the place of a line in an answer.
type part uint8

const (
	request part = iota
	status
	content
)

// Answer is put together from lines. The zero value is ready.
type Answer struct {
	next    part
	request [maxRequest]byte
	size    int // of request
	code    [2]byte
	broken  bool // a checksum is wrong

	// Of a scan.
	stamped bool   // its time has come
	data    []byte // distances; it grows with the sensor's first scan, to maxSteps at most
}

// Request returns the line that the answer begins with.
func (a *Answer) Request() string { return string(a.request[:a.size]) }

// answers reports whether the answer begins with the given request.
func (a *Answer) answers(request string) bool {
	return string(a.request[:min(a.size, len(request))]) == request
}

// Status returns the two characters of the status.
func (a *Answer) Status() string { return string(a.code[:]) }

// isScan reports whether the answer is one of the requested scans: status 99 (specification,
// MD). The first answer only confirms the request.
func (a *Answer) isScan() bool { return a.answers(scanning) && a.code == [2]byte{'9', '9'} }

// Take adds a line. It reports whether the answer is complete; the next line begins another
// one.
func (a *Answer) Take(line []byte) (whole bool) {
	switch {
	case a.next == request && len(line) == 0: // the end of an unknown answer
		return false
	case a.next == request:
		a.size = copy(a.request[:], line)
		a.next, a.broken, a.stamped, a.data, a.code = status, false, false, a.data[:0], [2]byte{}
		return false
	case len(line) == 0:
		whole = a.next == content
		a.next = request
		return whole
	case a.next == status:
		a.next = content
		code, ok := sealed(line)
		if a.broken = !ok || len(code) != 2; !a.broken {
			a.code = [2]byte(code)
		}
	case a.isScan():
		a.takeData(line)
	}
	return false
}

// Describe takes a line as Take does, and sets p by the lines of an answer to PP.
func (a *Answer) Describe(p *Parameters, line []byte) (whole bool) {
	if a.next == content && len(line) > 0 && a.answers(parameters) && !p.Set(line) {
		a.broken = true
	}
	return a.Take(line)
}

// takeData takes a line of a scan: first its time, then distances.
func (a *Answer) takeData(line []byte) {
	data, ok := sealed(line)
	if !ok || len(a.data)+len(data) > maxSteps*charsPerStep {
		a.broken = true
		return
	}
	if !a.stamped {
		a.stamped = true
		return
	}
	a.data = append(a.data, data...)
}

// distances calls fn with the distance in mm of each step, counted from zero. It
// returns false if the scan is damaged, or has another number of steps.
func (a *Answer) distances(steps int, fn func(i, mm int)) bool {
	if a.broken || len(a.data) != steps*charsPerStep {
		return false
	}
	for i := range steps {
		mm, ok := decode(a.data[i*charsPerStep:][:charsPerStep])
		if !ok {
			return false
		}
		fn(i, mm)
	}
	return true
}
