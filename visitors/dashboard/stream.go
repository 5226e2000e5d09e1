package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"player/client"
	"player/codec"
	"player/visitors"
)

// maxRate is the highest rate that a page may request, in Hz: the page offers no
// higher one, and screens show little more.
const maxRate = 50

// streamRequest is a command of a page to a stream. All fields are optional. The first one
// is in the query of the stream's address: it costs no round trip.
type streamRequest struct {
	Request string   `json:"request"` // pairs of a letter of a device and r or c
	Open    []string `json:"open"`    // devices without letters, by the names of a streamEquipment
	Close   []string `json:"close"`   // the same
	Rate    int      `json:"rate"`    // Hz
}

// streamEquipment is sent to a page when the devices of the robot are known, and again when more is known of them.
// A robot whose devices all have letters sends none.
type streamEquipment struct {
	Others   []streamDevice             `json:"others"`   // the devices without letters
	Rays     map[string][]codec.Rays    `json:"rays"`     // by device: its letter or its name
	Channels map[string][]codec.Channel `json:"channels"` // the same
}

type streamDevice struct {
	Name   string `json:"name"` // for example laser:1
	Code   byte   `json:"code"` // of its data
	Driver string `json:"driver"`
}

// streamReport is sent to a page after each request: the access to all devices
// requested so far, as granted by the robot, by letter or name. e: the device failed or
// does not exist.
type streamReport struct {
	Access  map[string]string       `json:"access"`
	Refused map[string]streamReason `json:"refused,omitempty"` // why it is e, if the robot reports a reason
}

type streamReason struct {
	Why  codec.Why `json:"why"`
	Text string    `json:"text"` // for people
}

// stream sends the data of one robot to one page.
type stream struct {
	socket *socket
	feed   *visitors.Feed
	newest *newest // nil: no other page gets data of this robot

	mu      sync.Mutex
	others  []streamDevice // that the page has been sent
	report  streamReport
	unsent  readings
	rounds  uint32 // of data, since the last message
	dropped uint32 // rounds that were merged into later ones
}

// dataChannel is the channel of the outbox with the data. Its message stands for all unsent data.
const dataChannel = 0

func (s *server) stream(sock *socket) error {
	st := &stream{socket: sock, unsent: readings{}, report: streamReport{map[string]string{}, map[string]streamReason{}}}
	if s.lists(sock.robot) {
		st.newest = &s.newest
	}
	st.feed = visitors.NewFeed(sock.dial, st.granted, st.add)
	st.feed.Stranger = func(err error) error { return visitors.Notice{Text: "this is not a Player server", Cause: err} }
	if sock.equipment {
		st.feed.Equipped = st.equipped
	}
	if err := st.take(streamRequest{Request: sock.first.Pairs, Rate: sock.first.Rate}); err != nil {
		return sock.Close(err)
	}
	sock.Outbox.Subscribe(dataChannel, dataChannel, 1, 0)
	return converse(sock, st.take, st.feed.Run, sock.write(st.appendFrame))
}

// take passes a request on, and does not block.
func (s *stream) take(r streamRequest) error {
	if r.Rate < 0 {
		return unfit(fmt.Errorf("rate %d", r.Rate))
	}
	if err := checkPairs(r.Request); err != nil {
		return err
	}
	pairs := r.Request
	for _, wish := range []struct {
		names  []string
		access byte
	}{{r.Open, codec.AccessRead}, {r.Close, codec.AccessClose}} {
		for _, name := range wish.names {
			code, known := s.code(name)
			if !known {
				return unfit(fmt.Errorf("no device %s was offered", visitors.Quote(name)))
			}
			pairs += string([]byte{code, wish.access})
		}
	}
	return s.feed.Request(visitors.Request{Pairs: pairs, Rate: min(r.Rate, maxRate)})
}

// code returns the byte of a device without a letter that the page has been sent.
func (s *stream) code(name string) (code byte, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.others {
		if d.Name == name {
			return d.Code, true
		}
	}
	return 0, false
}

// key returns a page's name for a device: its letter, or its name. The caller has the mutex.
func (s *stream) key(code byte) string {
	for _, d := range s.others {
		if d.Code == code {
			return d.Name
		}
	}
	return string(rune(code))
}

// equipped sends the page the robot's equipment, unless all devices have letters.
func (s *stream) equipped(e visitors.Equipment) error {
	if !slices.ContainsFunc(e.Devices, func(d codec.Entry) bool { return !codec.IsLetter(d.Code) }) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others = nil
	for _, d := range e.Devices {
		if !codec.IsLetter(d.Code) {
			s.others = append(s.others, streamDevice{d.Address(), d.Code, d.Driver})
		}
	}
	report := streamEquipment{s.others, map[string][]codec.Rays{}, map[string][]codec.Channel{}}
	for _, r := range e.Rays {
		key := s.key(r.Device)
		report.Rays[key] = append(report.Rays[key], r)
	}
	for _, c := range e.Channels {
		key := s.key(c.Device)
		report.Channels[key] = append(report.Channels[key], c)
	}
	return s.socket.reply(report)
}

// granted reports the result of a request to the page. Afterwards no data of a closed device is sent.
func (s *stream) granted(pairs string, refused []client.Access) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; i < len(pairs); i += 2 {
		device := s.key(pairs[i])
		s.report.Access[device] = string(rune(pairs[i+1]))
		delete(s.report.Refused, device)
	}
	for _, d := range refused {
		device := s.key(d.Device)
		s.report.Access[device] = string(rune(d.Granted))
		if d.Why != "" {
			s.report.Refused[device] = streamReason{d.Why, d.Text}
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		if s.report.Access[s.key(pairs[i])] != string(rune(codec.AccessRead)) {
			delete(s.unsent, pairs[i])
		}
	}
	return s.socket.reply(s.report)
}

// checkPairs returns an error unless a request only opens devices for reading and
// closes them. Device y is reserved for the stream.
func checkPairs(pairs string) error {
	for i := 0; i < len(pairs); i += 2 {
		if i+1 == len(pairs) || pairs[i] == codec.Server || !strings.ContainsRune("rc", rune(pairs[i+1])) {
			return unfit(fmt.Errorf("request %s: want pairs of a device and r or c", visitors.Quote(pairs)))
		}
	}
	return nil
}

// add keeps new data until it is sent, or replaced by newer data.
func (s *stream) add(news []visitors.News) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rounds++
	for _, n := range news {
		s.unsent.put(n)
		if s.newest != nil && codec.IsLetter(n.Device) { // a page that is opened does not know the others yet
			s.newest.put(s.socket.robot, n)
		}
	}
	s.socket.Outbox.Put(dataChannel, "", 0, nil)
	return nil
}

// appendFrame appends a message with all unsent data, which counts as sent then.
func (s *stream) appendFrame(dst []byte, m visitors.Message) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped += max(s.rounds, 1) - 1
	s.rounds = 0
	dst = appendFrameHeader(dst, m.Number, s.dropped)
	for device, r := range s.unsent {
		dst = appendFrameBlock(dst, device, r.age, r.known, r.payload)
	}
	clear(s.unsent)
	return dst, nil
}
