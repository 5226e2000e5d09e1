package urg

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// obey answers a command of SCIP 2.0. The text is the command with its characters.
func (s *Sensor) obey(now time.Duration, text, command, chars string) {
	switch command {
	case "QT":
		s.rest()
		s.answer(text, "00")
	case "RS":
		s.rest()
		s.fast, s.zero = false, now
		s.answer(text, "00")
		if !s.opts.TCP {
			s.baudSoon = s.opts.Line.Baud
		}
	case "BM":
		s.answer(text, s.light())
	case "PP":
		m := s.opts.Model
		s.answer(text, "00", fields("MODL:"+m.Name, fmt.Sprint("DMIN:", m.Min), fmt.Sprint("DMAX:", m.Max), fmt.Sprint("ARES:", m.Steps),
			fmt.Sprint("AMIN:", m.First), fmt.Sprint("AMAX:", m.Last), fmt.Sprint("AFRT:", m.Ahead), fmt.Sprint("SCAN:", m.TurnsAMinute))...)
	case "VV":
		model := s.opts.Model.Name[:strings.IndexAny(s.opts.Model.Name+"(", "([")]
		s.answer(text, "00", fields("VEND:Hokuyo Automatic Co.,Ltd.", "PROD:SOKUIKI Sensor "+model, "FIRM:3.1.00(18/Jan./2007)",
			"PROT:SCIP 2.0", "SERI:H0614967")...)
	case "II":
		s.answer(text, "00", fields(s.status(now)...)...)
	case "TM0", "TM1", "TM2":
		s.adjust(now, text, command[2])
	case "HS0", "HS1":
		status := "00"
		if on := command[2] == '1'; on == s.fast {
			status = "02"
		} else {
			s.fast = on
		}
		s.answer(text, status)
	default:
		switch command[:2] {
		case "TM", "HS":
			s.answer(text, "01")
		case "SS":
			s.answer(text, s.speed(command[2:]))
		case "CR":
			s.answer(text, s.motor(command[2:]))
		case "MD", "MS", "ME", "GD", "GS", "GE":
			s.scan(now, text, command, chars)
		default:
			s.answer(text, "0E")
		}
	}
}

// fields ends each field with its checksum. The checksum does not include the semicolon.
func fields(texts ...string) (lines []string) {
	for _, t := range texts {
		lines = append(lines, t+";"+string(sum(t)))
	}
	return lines
}

func (s *Sensor) rest() { s.laser, s.next = false, 0 }

// light switches the laser on, and returns the status.
func (s *Sensor) light() string {
	switch {
	case s.opts.Broken:
		return "01"
	case s.laser:
		return "02"
	}
	s.laser = true
	return "00"
}

// status returns the fields of II, as on urgnetwork's page of status commands.
func (s *Sensor) status(now time.Duration) []string {
	laser, measures, baud := "OFF", "IDLE", s.opts.Line.Baud
	if s.laser {
		laser = "ON"
	}
	if s.next != 0 {
		measures = "Measuring by " + s.request.kind
	}
	if !s.opts.TCP {
		baud = s.Baud()
	}
	return []string{"MODL:" + s.opts.Model.Name, "LASR:" + laser, fmt.Sprintf("SCSP:Initial(%d[rpm])<-Default setting by user", s.opts.Model.TurnsAMinute),
		"MESM:" + measures, fmt.Sprintf("SBPS:%d[bps]<-Default setting by user", baud), fmt.Sprintf("TIME:%06X", s.clock(now)), "STAT:Sensor works well."}
}

// clock is the sensor's clock: milliseconds in 24 bits.
func (s *Sensor) clock(now time.Duration) int { return int((now - s.zero).Milliseconds()) & 0xFFFFFF }

// stamp is the sensor's clock as a line.
func (s *Sensor) stamp(now time.Duration) string {
	t := appendNumber(nil, s.clock(now), 4)
	return string(append(t, sum(t)))
}

// adjust answers TM: 0 begins and 2 ends the adjustment of a host's clock, 1 reports the time.
func (s *Sensor) adjust(now time.Duration, text string, code byte) {
	switch {
	case code == '0' && s.adjusts:
		s.answer(text, "02")
	case code == '2' && !s.adjusts:
		s.answer(text, "03")
	case code == '1' && !s.adjusts:
		s.answer(text, "04")
	case code == '1':
		s.answer(text, "00", s.stamp(now))
	default:
		if s.adjusts = code == '0'; s.adjusts {
			s.rest()
		}
		s.answer(text, "00")
	}
}

// speed answers SS: six digits.
func (s *Sensor) speed(digits string) string {
	baud, err := strconv.Atoi(digits)
	switch {
	case err != nil || len(digits) != 6:
		return "01"
	case s.opts.TCP:
		return "04"
	case !slices.Contains([]int{19200, 38400, 57600, 115200, 250000, 500000, 750000}, baud):
		return "02"
	case baud == s.Baud():
		return "03"
	}
	s.baudSoon = baud
	return "00"
}

// motor answers CR: two digits, 00 to 10, or 99. The speed stays (assumed: a few percent matter
// to other sensors, not to hosts).
func (s *Sensor) motor(digits string) string {
	ratio, err := strconv.Atoi(digits)
	switch {
	case err != nil || len(digits) != 2:
		return "01"
	case ratio > 10 && ratio != 99:
		return "02"
	case s.opts.Model.Name == UTM30LX.Name:
		return "04"
	}
	return "00"
}

// A request is a command to measure.
type request struct {
	kind, begin, chars                    string // two letters; all before the count; the characters behind the semicolon
	first, last, cluster, interval, count int
}

// parse reads a command to measure, and returns its error status if it has a mistake. G... has
// neither interval nor count.
func (s *Sensor) parse(command, chars string) (r request, status string) {
	r = request{kind: command[:2], chars: chars}
	once := r.kind[0] == 'G'
	if n := len(command); once && n < 12 || !once && n < 15 {
		return r, "0C"
	} else if once && n > 12 || n > 15 {
		return r, "0E"
	}
	for _, p := range []struct {
		from, to int
		value    *int
		status   string
	}{{2, 6, &r.first, "01"}, {6, 10, &r.last, "02"}, {10, 12, &r.cluster, "03"}, {12, 13, &r.interval, "06"}, {13, 15, &r.count, "07"}} {
		if p.to > len(command) {
			break
		}
		n, err := strconv.ParseUint(command[p.from:p.to], 10, 16)
		if err != nil {
			return r, p.status
		}
		*p.value = int(n)
	}
	switch m := s.opts.Model; {
	case r.kind[1] == 'E' && !m.Intensities:
		return r, "0E"
	case r.last > m.Last, r.first < m.First: // assumed for the first step: only the last one's range is in the table
		return r, "04"
	case r.last < r.first:
		return r, "05"
	}
	r.begin, r.cluster = command[:len(command)-2], max(r.cluster, 1)
	return r, ""
}

// echo is the command with another count, the number of remaining scans, and its characters.
func (r request) echo(scans int) string {
	text := fmt.Sprintf("%s%02d", r.begin, scans)
	if r.chars != "" {
		text += ";" + r.chars
	}
	return text
}

// scan begins to send scans, or sends one.
func (s *Sensor) scan(now time.Duration, text, command, chars string) {
	r, status := s.parse(command, chars)
	switch {
	case status != "":
		s.answer(text, status)
	case r.kind[0] == 'G' && !s.laser:
		s.answer(text, "10")
	case r.kind[0] == 'G':
		s.answer(text, "00", s.lines(now, r)...)
	default:
		s.answer(text, "00")
		s.laser, s.request, s.left, s.next = true, r, r.count, now+s.period()
		s.skipped = r.interval // the first revolution counts
		if r.count == 0 {
			s.left = -1
		}
	}
}

// lines are the time stamp and the data of a scan, in lines of 64 characters.
func (s *Sensor) lines(now time.Duration, r request) []string {
	data := make([]byte, 0, 3*(r.last-r.first+1))
	for step := r.first; step <= r.last; step += r.cluster {
		mm := s.nearest(step, min(step+r.cluster-1, r.last))
		switch r.kind[1] {
		case 'S':
			data = appendNumber(data, min(mm, 4095), 2)
		case 'E':
			data = appendNumber(appendNumber(data, mm, 3), intensity(mm), 3)
		default:
			data = appendNumber(data, mm, 3)
		}
	}
	lines := []string{s.stamp(now)}
	for line := range slices.Chunk(data, 64) {
		lines = append(lines, string(line)+string(sum(line)))
	}
	return lines
}

// nearest is the shortest distance of a cluster of steps, or an error code if there is no return.
func (s *Sensor) nearest(first, last int) int {
	m := s.opts.Model
	nothing := 1 // an error code: no object in the range (table 4, of the UTM-30LX; of the UST assumed)
	if m.Name == URG04LX.Name {
		nothing = 0 // possibly at 22 m (table 3)
	}
	nearest := nothing
	for step := first; step <= last; step++ {
		mm := int(math.Round(s.opts.Room(float64(step-m.Ahead) * 360 / float64(m.Steps))))
		if mm > 0 && mm <= m.Max && (nearest == nothing || mm < nearest) {
			nearest = mm
		}
	}
	return nearest
}

// intensity returns the intensity of a return, which is weaker from afar (assumed).
func intensity(mm int) int {
	if mm < 20 {
		return 0
	}
	return 4000 * 1000 / (1000 + mm)
}
