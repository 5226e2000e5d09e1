package session

import (
	"encoding/hex"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/config/rights"
	"player/e2e/must"
)

// recorded are conversations with the original server, 0.7.4a, as far as ours
// is to do the same. Each is one connection, step by step:
//
//	sr=sr       a device request, and its reply
//	sr=?  >sr   a device request whose reply waits, and a reply that comes
//	<sp>        the next frame that may be made has these blocks, v0 an empty one; <> there is none
//	xHEX        a configuration of the server; d, r0, r1, n1, f20 are short for some
//	@100        frames are due every 100 ms
//	#2          so many frames are asked for and not sent
//	pHEX        a command to the device, taken; pHEX! dropped
//	p:HEX       a configuration of the device, taken; p:HEX! dropped
//	*sp         the devices have new data; *s+ and the owner is notified; *s- and it is not
//	~998        so many ms pass, and commands end that are not repeated
//	-l +l       setups of the device fail from now on, or succeed
//	|l %l !l    they succeed, or fail, when the test ends one
//	_l          the device has no data after its setup
//	A L 0 AL    commands to position: ahead, left, stop; two that come together
//	[AL0]       the commands that have reached drivers since the last [ ]
//	T500 M300   the lifetime of commands in ms, and the longest that the server allows
//	C c         the client has control, or has not
//	^rw         its rights: read, write, config, take
//	H h Q       it has gone silent and is stopped, is heard again, is silent
//	K           frames that it asked for collapse
//	E .         it has ended its connection; it leaves
//	2:sr=sr     a step of another client
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

// ours are conversations with a server that has devices and extensions which the original has not.
var ours = map[string][]string{
	"replies (2.1, 2.4, 2.5)": {
		"sa=sa sx=sa se=sa s-=sa", "srprswpc=sapcsapc", "= sr=sr =", "s=s sr=sr s=s", "srp=srp srswp=sasap pc=pe",
		"qaqwqx=qeqeqe",
		"rr=re", "lrsrprgrmrvrzr=lrsrprgrmrvrzr", "yr=yr yw=ya yc=yc yc=yc", "yc=ye yx=ye",
	},
	// Closed, failed and write-only devices keep their place but have no block.
	"order of blocks (2.8, 3.1, 3.2)": {
		"-l zwlrsr=zwlesr <s> prgrmr=prgrmr <spgm> sc=sc <pgm> vr=vr <pgmv> vxqryc=vrqeye <pgmv> sr=sr <spgmv> " +
			"<spgmv> zr=za <zspgmv> " +
			"gw=ga <zspgmv> gw=gw <zspmv> gr=ga <zspgmv> za=za <zspgmv> zw=zw <spgmv> lr=le <spgmv> " +
			"mcvcscgcpczc=mcvcscgcpczc <> " +
			"vrpr=vrpr <pv> <pv> +l lr=lr <lpv>",
	},
	// A frame waits until each of its devices has data, at most for one second after the device was opened.
	"first data (3.3, 3.5)": {
		"prlw=prlw ~1000 _v vr=vr <> ~1 <> ~998 <> @100 ~1 <pv0> ~3600000 <pv0> @100 *v <pv>",
		"_v prvr=prvr *v <pv> vc=vc <p> vr=vr <> ~999 <> *v <pv>", // data of an earlier run does not count
		"_v vr=vr *v 2:vr=vr 2:<v>",
		"|v _v vr=? ~6000 !v >vr <> ~999 <> ~1 <v0>",
		"_l r1 lrsr=lrsr d <> #1 @10 *l <ls> #0 @0 <>",
	},
	// While a device is set up its client waits for the reply and gets the data of the devices that it had open before.
	"slow setups (2.6, 2.7)": {
		"|l 2:pr=pr sr=sr <s> lrqrpryr=? <s> @100 2:<p> 2:sr=sr ~900 !l >lrqepryr <yslp> @100",
		"%l lasrlr=? !l >lesrle <s> |l lr=? !l >lr <ls>",
		"-l lrsr=lesr <s> lc=le lx=le la=le l01! +l lr=lr <ls>", // a later reply is to that request only
		"|l |v lrpwvrsr=? !l !v >lrpwvrsr <lvs>", "|l |v lrpwvrsr=? !v !l >lrpwvrsr <lvs>",
		"|l %v lrpwvrsr=? !l !v >lrpwvesr <ls>", "|l %v lrpwvrsr=? !v !l >lrpwvesr <ls>",
		"%l |v lrpwvrsr=? !l !v >lepwvrsr <vs>", "%l |v lrpwvrsr=? !v !l >lepwvrsr <vs>",
		"%l %v lrpwvrsr=? !l !v >lepwvesr <s>", "%l %v lrpwvrsr=? !v !l >lepwvesr <s>",
		"|p prsr=? 2:mr=? !p >prsr 2:>mr", "%p prsr=? 2:mr=? !p >pese 2:>me",
	},
	// 0 is refused; a rate above the maximum is served at the maximum. It is kept while nothing is open.
	"rate (4.1)": {
		"f20 @0 sr=sr @50 f3 @333.333333 f0 @333.333333 f1000 @1 f50 @20 f1001 @1 f50 @20 f65535 @1 f10 @100 f25 " +
			"sc=sc @0 2:pr=pr 2:@100 pr=pr @40",
	},
	"mode (4.2, 4.3, 4.5, 3.5)": {
		"sr=sr r1 #0 @0 d #1 @10 d #2 @10 d #3 @10 <s> <s> <s> <>",
		"sr=sr x7202 d #1 @10 r0 #0 @100 x72ff #0 @0 d #1 @10 <s> <>",
		"sr=sr d #0 @100 r1 #0 @0 <>", "sr=sr r1 d #1 r1 #0 @0 d #1 @10 r0 #0 @100 r1 #0 @0 <>",
		"sr=sr r1 r0 @100 r1 @0 r0 @100 d #0 @100 <s> <s>",
		"sr=sr x72 @100 x720101 @100 r1 @0 x6400 #0 @0 x72 @0 x720000 @0 d #1 @10 <s> <>",
		"sr=sr x5a #0 @100 x44 @100 x @100 <s>",
		"sr=sr f20 @50 r1 @0 f50 @0 r0 @20 <s>", "sr=sr x6e #0 @100 x6e0101 #0 @100 <s> <s>",
		"r1 d sw=sw d sr=sa <> d <s> <> scyr=scyr d <y> <>", // data asked for with nothing open for reading is forgotten
	},
	"rights (2.10)": {
		"^rwc srpwga=srpwga", "^r srpwga=srpege pr=pr", "^r pr=pr pw=pe pr=pr pc=pc", "^w srpwga=sepwge pw=pw pr=pe",
		"^rw srpwga=srpwga",
		"^ srpwgaqr=sepegeqe sc=se", "^c sr=se", "2:sr=sr pw=pw A [A] p:6d01", "2:sr=sr ^r pw=pe A [] p:6d01!",
		"2:sr=sr ^w pw=pw A [A] p:6d01!",
		"^w pw=pw A pa=pe [A0]", // a refused request stops the motors
	},
	// Its earlier messages move nothing, and are answered. A stop is obeyed, and a gripper does not drive away.
	"a client that has left, or is silent (5.4, 9.1)": {
		"pagw=pagw A E [A0] L [] g0303 pa=pa 0 [0] . [0]", "pagw=pagw A H [A0] L [] g0303 0 [0] h A [A] Q A [A]",
		"pa=pa H h A <p> [A]",
	},
	// A command of the device's size reaches its driver, any other size is dropped.
	"sizes of commands (5.1, 5.2)": {
		"pa=pa p! p00! p0000! p000000! p00000000 p0000000000!", "za=za z! z0000000000! z000000000000 z00000000000000!",
		"ga=ga g! g00! g0000 g000000!", "sa=sa s! s00! s00000000!", "la=la l! l0000!", "ma=ma m! m00!", "va=va v! v00!",
	},
	// A client that uses no extension sees no difference, whatever others ask for.
	"without extensions (8)": {"2:n1 2:yrsrpr=yrsrpr srpr=srpr 2:<ysp> <sp> 2:<> <sp> ~100 2:<> <sp>"},
	"freshness (8.1)":        {"srlr=srlr yrpw=yrpw <ysl> scpc=scpc <yl> yc=yc <l> yw=yw <l> yr=ya <yl>"},
	"collapse (4.3)":         {"K r1 sr=sr K #0 d d d K #1 <s> <>"},
	// Commands from before a stop do not follow it (5.4, 9.1).
	"a stop during a setup": {"|l pa=pa lr=? A H h !l >lr [] A [A]"},
	// A command that waits for a setup ages meanwhile.
	"lifetime during a setup (5.5)": {"|p T400 pa=? A ~300 !p >pa ~100 [A0] A [A]", "|p T400 pa=? A ~400 !p >pa [] A [A]",
		// Input behind it does not make it younger.
		"|p T400 pa=? A ~300 f20 ~100 !p >pa [] A [A]", "|p T400 pa=? A ~300 L !p >pa ~100 [L]",
		// A lifetime that begins anew has waited as well.
		"|l pa=pa T400 A lr=? ~100 T400 ~200 !l >lr ~199 [A] ~1 [0]"},
	// A frame contains the blocks that are new to this client, and there is no frame when nothing is new.
	"only new (8.2)": {
		"_v 2:srpr=srpr n1 srprlwvr=srprlwvr <sp> <> 2:<sp> *p <p> <> *vl <v> *psp lr=la <spl> <> 2:<sp> " +
			"*s n0 <splv> n255 <> " + // frames sent in the other mode count as sent
			"scpc=scpc *p <> srpr=srpr <p> " + // data published while the device was closed is new
			"2:scpc=scpc *ps _p scpc=scpc srpr=srpr <> *s <s>", // data from before a restart is not
		"n1 yr=yr <> srpr=srpr <ysp> <> *p ~7 <yp> <>", // y describes the blocks of the frame
		"n1 r1 srpr=srpr d d <sp> <> #1 @0 *s+ <s> *s- <> #0 @0 <> d <s> d sc=sc *s- sr=sr *s+ r0 *s- r1 d . *p-",
	},
}

func TestConversations(t *testing.T) {
	all := maps.Clone(ours)
	maps.Copy(all, recorded)
	for name, conversations := range all {
		for _, conversation := range conversations {
			converse(t, name, "", conversation)
		}
	}
}

// converse runs a conversation. Each client opens the given devices first.
func converse(t *testing.T, name, pairs, conversation string) {
	t.Run(name+" "+conversation, func(t *testing.T) {
		steps, first := strings.CutPrefix(conversation, "first ")
		r, control, peers := newRobot(t), &Control{First: first}, map[string]*peer{}
		for _, step := range strings.Fields(steps) {
			who, its, is := strings.Cut(step, ":")
			if !is || who < "1" || who > "9" {
				who, its = "1", step
			}
			p := peers[who]
			if p == nil {
				p = newPeer(t, r)
				peers[who] = p
				p.SetControl(control)
				p.request(pairs, pairs)
			}
			p.play(its)
		}
	})
}

// play runs one step of a conversation.
func (p *peer) play(step string) {
	p.t.Helper()
	period, lapses, notices := p.Period(), p.Lapses(), p.notices
	rest := step[1:]
	switch first := step[0]; {
	case strings.Contains(step, "="):
		asked, reply, _ := strings.Cut(step, "=")
		if reply != "?" {
			p.request(asked, reply)
			break
		}
		p.send(request(asked))
	case first == '>':
		p.expectReplies(rest)
	case first == '<':
		got, blocks := "", p.blocks()
		if len(blocks) > 0 && blocks[0].letter == codec.Server {
			var y codec.FreshnessData
			err := y.Decode(blocks[0].payload)
			if err != nil || len(y.Ages) != len(blocks)-1 || y.Time != uint64(p.robot.now.Microseconds()) {
				p.t.Errorf("%s: block y is %+v, %v", step, y, err)
			}
		}
		for _, b := range blocks {
			if got += string(rune(b.letter)); len(b.payload) == 0 {
				got += "0"
			}
		}
		if want := strings.Trim(step, "<>"); got != want {
			p.t.Errorf("frame %q, want %q", got, want)
		}
	case first == '@':
		want, err := time.ParseDuration(rest + "ms")
		if err != nil || p.Period() != want {
			p.t.Errorf("period %v, want %v, %v", p.Period(), want, err)
		}
	case first == '#':
		if p.Asked() != number(p, rest) {
			p.t.Errorf("%d frames asked for, want %s", p.Asked(), rest)
		}
	case first == '*':
		devices := strings.TrimRight(rest, "+-")
		p.robot.publish([]byte(devices)...)
		if notified := p.notices > notices; devices != rest && notified != strings.HasSuffix(rest, "+") {
			p.t.Errorf("after news of %s the owner is notified: %v", devices, notified)
		}
	case first == '~':
		p.robot.pass(p.t, time.Duration(number(p, rest))*ms)
	case strings.Trim(step, "AL0") == "":
		p.send([]byte(strings.NewReplacer("A", string(ahead), "L", string(left), "0", string(halt)).Replace(step)))
	case first == '[':
		if got := p.robot.commands(); "["+got+"]" != step {
			p.t.Errorf("the commands [%s] have reached drivers, want %s", got, step)
		}
	case first == 'T':
		p.send(config('l', byte(number(p, rest)>>8), byte(number(p, rest))))
	case first == 'M':
		p.Limit(time.Duration(number(p, rest)) * ms)
	case first == 'C', first == 'c':
		if has := p.control.IsCommander(p.Session); has != (first == 'C') {
			p.t.Errorf("%s: it has control: %v", step, has)
		}
	case first == '^':
		may := rights.None
		for _, letter := range rest {
			may |= map[rune]rights.Set{'r': rights.Read, 'w': rights.Write, 'c': rights.Config, 't': rights.Take}[letter]
		}
		p.Restrict(may)
	case first == 'H':
		p.silence = true
		p.Halt(p.robot.now)
	case first == 'h', first == 'Q':
		p.silence = first == 'Q'
	case first == 'K':
		p.Collapse()
	case first == 'E':
		p.Leave(p.robot.now)
	case strings.IndexByte("+-|%", first) >= 0:
		p.robot.of(step[1]).mood = map[byte]mood{'+': fine, '-': broken, '|': slow, '%': slowBroken}[first]
	case first == '_':
		p.robot.of(step[1]).mute = true
	case first == '!':
		p.robot.of(step[1]).end(p.robot.now)
		return // with a reply
	case first == '.':
		p.Close(p.robot.now)
		return
	case step == "d":
		p.send(config('d'))
	case first == 'r', first == 'n':
		p.send(config(first, byte(number(p, rest))))
	case first == 'f':
		p.send(rate(number(p, rest)))
	case first == 'x':
		p.send(config(unhex(p, rest)...))
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
	if at := p.Lapses(); at != 0 && (lapses == 0 || at < lapses) && p.notices == notices {
		p.t.Errorf("%s: the owner was not notified of the end of the command at %v", step, at)
	}
	if p.expectReplies(); p.Period() != period && p.notices == notices && step[0] != '<' {
		p.t.Errorf("%s: the owner was not notified of the period %v", step, p.Period())
	}
}

func number(p *peer, digits string) int {
	return must.Get(strconv.Atoi(digits))(p.t)
}

func unhex(p *peer, text string) []byte {
	return must.Get(hex.DecodeString(text))(p.t)
}
