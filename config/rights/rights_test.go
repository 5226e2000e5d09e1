package rights

import (
	"net/netip"
	"testing"
)

func TestRules(t *testing.T) {
	from := func(networks ...string) (p []netip.Prefix) {
		for _, n := range networks {
			p = append(p, netip.MustParsePrefix(n))
		}
		return p
	}
	lab := Rules{
		{Read, from("0.0.0.0/0"), nil},
		{Write, from("10.0.0.0/8", "fe80::/10"), nil},
		{All, from("127.0.0.0/8", "::1/128"), nil},
	}
	named := Rules{
		{Read, from("10.0.0.0/8"), nil},
		{Write, nil, []string{"ada", "grace"}},
		{Config, from("10.1.0.0/16"), []string{"ada"}},
	}
	for _, tt := range []struct {
		rules  Rules
		client string
		name   string
		want   Set
	}{
		{nil, "8.8.8.8", "", All},
		{nil, "8.8.8.8", "ada", All},
		{named, "8.8.8.8", "", None},
		{named, "8.8.8.8", "eve", None},
		{named, "8.8.8.8", "ada", Write},
		{named, "10.2.0.1", "", Read},
		{named, "10.2.0.1", "grace", Read | Write},
		{named, "10.1.0.1", "grace", Read | Write},
		{named, "10.1.0.1", "ada", All},
		{named, "10.1.0.1", "Ada", Read},
		{Rules{{All, nil, nil}}, "8.8.8.8", "ada", None},
		{Rules{{Read, nil, []string{""}}}, "8.8.8.8", "", None}, // a client without a certificate has no name
		{lab, "8.8.8.8", "", Read},
		{lab, "10.1.2.3", "", Read | Write},
		{lab, "::ffff:10.1.2.3", "", Read | Write},
		{lab, "fe80::1%eth0", "", Write},
		{lab, "127.0.0.1", "", All},
		{lab, "::1", "", All},
		{lab, "2001:db8::1", "", None},
		{Rules{{None, from("0.0.0.0/0"), nil}}, "8.8.8.8", "", None},
	} {
		if got := tt.rules.Of(netip.MustParseAddr(tt.client), tt.name); got != tt.want {
			t.Errorf("%s %q has %b, want %b", tt.client, tt.name, got, tt.want)
		}
	}
	if (All|Take).String() != "read write config take" || All.Has(Take) || None.String() != "nothing" || Write.String() != "write" {
		t.Errorf("%v, %v, %v", All, None, Write)
	}
	if !All.Has(Read|Config) || (Read | Config).Has(Write|Read) {
		t.Error("Has")
	}
}

func TestEqual(t *testing.T) {
	network := func(text string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(text)} }
	one := Rules{{Read, network("10.0.0.0/8"), []string{"ann"}}}
	for _, tt := range []struct {
		name  string
		other Rules
		equal bool
	}{
		{"the same", Rules{{Read, network("10.0.0.0/8"), []string{"ann"}}}, true},
		{"none", nil, false},
		{"more rights", Rules{{Read | Write, one[0].From, one[0].Names}}, false},
		{"another network", Rules{{Read, network("10.0.0.0/9"), one[0].Names}}, false},
		{"another name", Rules{{Read, one[0].From, []string{"bob"}}}, false},
		{"one more", append(one[:1:1], one[0]), false},
	} {
		if one.Equal(tt.other) != tt.equal || tt.other.Equal(one) != tt.equal {
			t.Errorf("%s: equal is not %v", tt.name, tt.equal)
		}
	}
}

func TestComputer(t *testing.T) {
	for _, tt := range []struct{ client, want string }{
		{"10.1.2.3", "10.1.2.3"},
		{"::ffff:10.1.2.3", "10.1.2.3"},
		{"::1", "::1"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"},
		{"fe80::1%eth0", "fe80::"},
	} {
		if got := Computer(netip.MustParseAddr(tt.client)); got.String() != tt.want {
			t.Errorf("%s is of %s, want %s", tt.client, got, tt.want)
		}
	}
}
