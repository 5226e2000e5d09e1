package conformance

import (
	"slices"
	"time"

	"player/codec"
)

// reconnects has clients that connect again.
func reconnects() []Case {
	ended := func(send ...string) Step {
		s := fails("closed", send...)
		s.End = endClose
		return s
	}
	setting := func(code byte, arg uint16) codec.Config { return codec.Config{Code: code, Arg: arg} }
	name := codec.Config{Code: codec.ConfigName, Text: "mapper"}
	frequency, lifetime := setting(codec.ConfigFrequency, 50), setting(codec.ConfigLifetime, 500)
	mode, fresh, data := setting(codec.ConfigMode, 1), setting(codec.ConfigFresh, 1), setting(codec.ConfigData, 0)
	named := config("name", 0, codec.Server, name)
	named.Do["text"] = name.Text
	everything := []Step{
		connect(), named,
		config("frequency", 50, codec.Server, frequency), config("lifetime", 500, codec.Server, lifetime), config("mode", 1, codec.Server, mode),
		open("yrsrpa"), setFresh(1),
		config("data", 0, codec.Server, data), read("sp", server(1, 2, 3)+sonarBlock(1)+positionBlock(1)), at(1),
	}
	whole := again("yrsrpa", "yrsrpa", name, frequency, lifetime, mode)
	whole.Then = append(whole.Then, Exchange{Expect: configured(fresh)})
	restored := []Step{
		whole, nothing("s"), nothing("p"),
		config("data", 0, codec.Server, data), read("p", server(5, 6)+positionBlock(2)), at(2), aged("p", 6),
		command("p", codec.PositionCommand{Speed: 1}.Append(nil), 1, 0),
	}
	twice := slices.Concat(everything, []Step{ended()}, restored, []Step{ended()}, restored, []Step{closing()})
	anyTime := slices.Concat(everything, restored, []Step{closing()})
	return []Case{
		{"everything is restored", "1 4.1 4.2 4.4 4.7 4.10 8.2", twice},
		{"at any time", "1", anyTime},
		{"nothing is set", "1", []Step{
			connect(), open("pr"), read("p", positionBlock(1)), ended(), againPlain("pr"), nothing("p"), read("p", positionBlock(2)), at(2), closing(),
		}},
		{"nothing was open", "1", []Step{
			connect(), config("frequency", 50, codec.Server, frequency),
			{Do: ask("pr"), Expect: requestBytes("pr"), End: endClose, Want: Object{"ok": false, "error": "closed"}},
			{Do: reconnecting(), Expect: configured(frequency), Want: Object{"ok": true}},
			open("pr"), read("p", positionBlock(1)), at(1), closing(),
		}},
		{"lost again while it asks for its devices", "1", []Step{
			connect(), config("frequency", 50, codec.Server, frequency), open("pr"), ended(),
			func() Step {
				s := again("pr", "pr", frequency)
				s.Then = []Exchange{{Again: true, Expect: s.Expect}, {Again: true, Expect: s.Expect, Send: s.Send}}
				s.Send = nil
				return s
			}(),
			read("p", positionBlock(2)), at(2), closing(),
		}},
		{"in the middle of a block", "1 1.4", []Step{
			connect(), open("srpr"), ended(sonarBlock(3)[:30]), againPlain("srpr"), read("sp", sonarBlock(4)+positionBlock(4)), at(4), closing(),
		}},
		{"closed devices stay closed", "2.3", []Step{
			connect(), open("srprlr"), open("sc"), ended(), againPlain("prlr"), closing(),
		}},
		{"refused devices are not asked for", "2.3", []Step{
			connect(), replied("srlr", "srle"), ended(), againPlain("sr"), closing(),
		}},
		{"an upgrade is kept", "2.3", []Step{
			connect(), open("pr"), replied("pw", "pa"), ended(), againPlain("pa"),
			command("p", codec.PositionCommand{Speed: 1}.Append(nil), 1, 0), closing(),
		}},
		{"less is granted than before, then all", "2.3 2.4 8.9", []Step{
			connect(), open("srpa"), ended(),
			againPlain("srpa", "srpe"), read("s", sonarBlock(1)), ended(),
			againPlain("srpa", "srpr"), read("sp", sonarBlock(2)+positionBlock(2)), at(2), ended(),
			againPlain("srpa"), read("sp", sonarBlock(3)+positionBlock(3)), at(3), closing(),
		}},
		{"only new data, though a device is refused", "2.3 8.2", []Step{
			connect(), open("yrsrpr"), setFresh(1), ended(),
			func() Step {
				s := againPlain("yrsrpr", "yrsrpe")
				s.Then = append(s.Then, Exchange{Expect: configured(fresh)})
				return s
			}(),
			read("s", server(5, 6)+sonarBlock(1)), aged("s", 6), closing(),
		}},
	}
}

func reconnecting() Object { return Object{"op": "reconnect", "timeout_ms": patience} }

// configured returns messages that configure the connection.
func configured(configs ...codec.Config) string {
	var b []byte
	for _, c := range configs {
		b = codec.AppendMessage(b, codec.KindConfig, codec.Server, c.Append(nil))
	}
	return h(b)
}

// again connects again. The client sets its connection up, and requests devices, of which
// the server grants some.
func again(pairs, granted string, settings ...codec.Config) Step {
	s := replied(pairs, granted)
	s.Do, s.Expect = reconnecting(), configured(settings...)+s.Expect
	delete(s.Want, "granted")
	delete(s.Want, "why")
	return s
}

// againPlain connects again a client that changed no setting. The server grants all, or
// the given pairs.
func againPlain(pairs string, granted ...string) Step {
	if granted == nil {
		granted = []string{pairs}
	}
	return again(pairs, granted[0])
}

// nothing finds a device without data.
func nothing(device string) Step {
	return Step{Do: Object{"op": "get", "device": device}, Want: Object{"ok": true, "data": nil}}
}

// reconnectTo waits for a server that is away, and has its devices again. connecting is
// how the client connected.
func reconnectTo(s *session, connecting Object) {
	s.do(connecting)
	s.do(ask("pasr"))
	s.config("frequency", 100)
	s.read()
	s.process.stop(s.t)
	s.ends()
	s.fails("closed", Object{"op": "reconnect", "timeout_ms": 10 * soon}) // a busy machine takes long for one attempt
	s.process.start(s.t)
	s.do(reconnecting())
	s.command("p", 200, 0)
	s.until("speed", func() bool { return s.number("p", "speed") == 200 })
	s.do(Object{"op": "close"})
}

func realReconnect(s *session) {
	reconnectTo(s, s.connecting())
	r := s.trust
	sealed := Object{"op": "connect", "host": "127.0.0.1", "port": s.process.sealed, "timeout_ms": patience,
		"authority": r.lab.File, "certificate": r.ada.Cert, "key": r.ada.Key, "server": "localhost"}
	s.needsTLS(sealed)
	reconnectTo(s, sealed)
}

// ends reads the bytes from before the server ended.
func (s *session) ends() {
	s.t.Helper()
	for deadline := time.Now().Add(limit); ; {
		if got := s.adapter.call(s.t, readRequest(patience)); got["ok"] != true {
			if got["error"] != "closed" {
				s.t.Fatalf("the server ended: %s", text(got))
			}
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatal("the client does not notice that the server ended")
		}
	}
}
