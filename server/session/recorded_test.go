package session

import (
	"encoding/hex"
	"strconv"
	"strings"
	"testing"
	"time"
)

// recorded are conversations with the original server, 0.7.4a, as far as ours
// is to do the same. Each is one connection, step by step:
//
//	sr=sr       a device request, and its reply
//	<sp>        the next frame that may be made has these blocks; <> there is none
//	xHEX        a configuration of the server; d, r0, r1, f20 are short for some
//	@100        frames are due every 100 ms
//	pHEX        a command to the device, taken; pHEX! dropped
//	p:HEX       a configuration of the device, taken; p:HEX! dropped
var recorded = map[string][]string{
	"one access after the other": {
		"sr=sr <s> sr=sr <s>", "sr=sr <s> sw=sa <s>", "sr=sr <s> sa=sa <s>", "sr=sr <s> sc=sc <>", "sr=sr <s> se=sr <s>", "sr=sr <s> sx=sr <s>",
		"sw=sw <> sr=sa <s>", "sw=sw <> sw=sw <>", "sw=sw <> sa=sa <s>", "sw=sw <> sc=sc <>", "sw=sw <> se=sw <>", "sw=sw <> sx=sw <>",
		"sa=sa <s> sr=sr <s>", "sa=sa <s> sw=sw <>", "sa=sa <s> sa=sa <s>", "sa=sa <s> sc=sc <>", "sa=sa <s> se=sa <s>", "sa=sa <s> sx=sa <s>",
		"sc=se sr=sr <s>", "sc=se sw=sw <>", "sc=se sa=sa <s>", "sc=se sc=se <>",
		"sr=sr sc=sc sr=sr <s>", "sr=sr sc=sc sw=sw <>", "sr=sr sc=sc sa=sa <s>", "sr=sr sc=sc sc=sc <>",
		"sa=sa sr=sr <s> sa=sa <s> sw=sw <> sr=sa <s>", "sr=sr sw=sa sc=sc <>", "sa=sa sw=sw sc=sc <>", "sa=sa sc=sc sr=sr <s>",
	},
	"two in one request": {
		"srsr=srsr <s>", "srsw=sasa <s>", "srsa=sasa <s>", "srsc=scsc <>", "srsx=srsr <s>",
		"swsr=sasa <s>", "swsw=swsw <>", "swsa=sasa <s>", "swsc=scsc <>", "swsx=swsw <>",
		"sasr=srsr <s>", "sasw=swsw <>", "sasa=sasa <s>", "sasc=scsc <>", "sasx=sasa <s>",
		"scsr=srsr <s>", "scsw=swsw <>", "scsa=sasa <s>", "scsc=sese <>",
		"sxsr=srsr <s>", "sxsw=swsw <>", "sxsa=sasa <s>",
	},
	"devices": {
		"lr=lr <l>", "lw=lw <>", "la=la <l>", "lc=le", "pr=pr <p>", "pw=pw <>", "pa=pa <p>", "pc=pe", "vr=vr <v>", "vw=vw <>", "va=va <v>", "vc=ve",
		"zr=zr <z>", "zw=zw <>", "za=za <z>", "zc=ze", "mr=mr <m>", "mw=mw <>", "ma=ma <m>", "mc=me", "gr=gr <g>", "gw=gw <>", "ga=ga <g>", "gc=ge",
		"qr=qe", "qw=qe", "qa=qe", "qc=qe", "qr=qe qr=qe qc=qe qr=qe", "Lr=Le", "1r=1e", "1c=1e", "\x7Fr=\x7Fe", "\x7Fa=\x7Fe",
		"\x00r=\x00e", "\x80r=\x80e", "\x80c=\x80e", "\xFFc=\xFFe", "\xF0r=\xF0e", "\xF0c=\xF0e",
	},
	"order": {
		"srpr=srpr <sp> <sp>", "prsr=prsr <ps>", "lrsrpr=lrsrpr <lsp>", "zrprlrsr=zrprlrsr <zpls>", "vrsr=vrsr <vs>", "srvrprzrlr=srvrprzrlr <svpzl>",
		"sapalaza=sapalaza <splz>", "lr=lr <l> sr=sr <ls> pr=pr <lsp>", "srprzr=srprzr <spz> sc=sc <pz> sr=sr <spz>", "srprzr=srprzr <spz> scsr=srsr <spz>",
		"srprzr=srprzr <spz> sc=sc <pz> lr=lr <pzl> sr=sr <spzl>", "srpwzr=srpwzr <sz> pr=pa <spz>", "srqrpr=srqepr <sp>",
		"srpr=srpr <sp> scpc=scpc <> pr=pr <p>", "mrgrprsr=mrgrprsr <mgps> mcgc=mcgc <ps>", "sr=sr <s> pr=pr <sp> scpc=scpc <> pr=pr <p>",
	},
	"rate": {
		"sr=sr @100 f1 @1000", "sr=sr f2 @500", "sr=sr f5 @200", "sr=sr f10 @100", "sr=sr f20 @50", "sr=sr f50 @20", "sr=sr f100 @10", "sr=sr f200 @5", "sr=sr f500 @2",
		"f20 sr=sr @50", "sr=sr f1 @1000 f50 @20", "sr=sr x6632 @100", "sr=sr x66 @100", "sr=sr x66003200 @100", "sr=sr x6600000032 @100",
		"sr=sr x @100", "sr=sr f20 x @50", "r1 sr=sr f50 <> d <s> <> r0 @20 <s>",
	},
	"mode": {
		"r1 srpr=srpr <> d <sp> d <sp> <>", "r1 d sr=sr <> d <s> <>", "r1 d <>", "sr=sr <s> r1 d <s> r0 <s> <s> @100", "sr=sr r1 r1 d <s> <>", "sr=sr r0 <s> r0 <s> @100",
		"sr=sr x7202 d <s> <> r0 <s> x72ff d <s> <>", "sr=sr r1 r0 r1 r0 <s> d <s> @100", "sr=sr d <s> @100", "r1 sr=sr x6400 <> d <s> <>",
		"sr=sr x72 <s> x720101 <s> @100", "sr=sr x5a <s> @100", "r1 sr=sr pr=pr <> d <sp> sc=sc <> d <p> <>",
	},
	"commands": {
		"r1 pa=pa p00640000 p0064000a p00000014 pff38ffe2 p03e80000 pfc180000 p0000012c p7fff7fff", "pr=pr p00640000!", "ga=ga g01!", "za=za z000000000000 z0000!", "sa=sa s00!",
		"pa=pa p012c0000 p00000000 p:52", "pr=pr p:6d01 p:6d00 p:6d07", "pa=pa p0078000f p:7601 pff7effec p:7600", "sr=sr s:6d01 m:6d00 g:6d01",
	},
}

func TestRecorded(t *testing.T) {
	for name, conversations := range recorded {
		for _, conversation := range conversations {
			t.Run(name+" "+conversation, func(t *testing.T) {
				_, p := connect(t)
				for _, step := range strings.Fields(conversation) {
					p.play(step)
				}
			})
		}
	}
}

// play runs one step of a recorded conversation.
func (p *peer) play(step string) {
	p.t.Helper()
	digits := strings.TrimLeft(step, "rfdx@<")
	switch first := step[0]; {
	case strings.Contains(step, "="):
		asked, reply, _ := strings.Cut(step, "=")
		p.request(asked, reply)
	case first == '<':
		got := ""
		for _, b := range p.blocks() {
			got += string(rune(b.letter))
		}
		if want := strings.Trim(step, "<>"); got != want {
			p.t.Errorf("frame %q, want %q", got, want)
		}
	case first == '@':
		if want := time.Duration(number(p, digits)) * ms; p.Period() != want {
			p.t.Errorf("period %v, want %v", p.Period(), want)
		}
	case step == "d":
		p.send(config('d'))
	case first == 'r':
		p.send(config('r', byte(number(p, digits))))
	case first == 'f':
		p.send(rate(number(p, digits)))
	case first == 'x':
		p.send(config(unhex(p, step[1:])...))
	default: // for a device
		text, dropped := strings.CutSuffix(step[1:], "!")
		kind, verb := byte('c'), "command "
		text, isConfig := strings.CutPrefix(text, ":")
		if isConfig {
			kind, verb = 'x', "configure "
		}
		payload := unhex(p, text)
		p.robot.take()
		p.send(message(kind, first, payload...))
		if got := p.robot.take(); strings.HasPrefix(got, verb) == dropped {
			p.t.Errorf("%s: driver calls %q", step, got)
		}
	}
	p.expectReplies()
}

func number(p *peer, digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

func unhex(p *peer, text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}
