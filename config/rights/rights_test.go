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
		{Read, from("0.0.0.0/0")},
		{Write, from("10.0.0.0/8", "fe80::/10")},
		{All, from("127.0.0.0/8", "::1/128")},
	}
	for _, tt := range []struct {
		rules  Rules
		client string
		want   Set
	}{
		{nil, "8.8.8.8", All},
		{lab, "8.8.8.8", Read},
		{lab, "10.1.2.3", Read | Write},
		{lab, "::ffff:10.1.2.3", Read | Write},
		{lab, "fe80::1%eth0", Write},
		{lab, "127.0.0.1", All},
		{lab, "::1", All},
		{lab, "2001:db8::1", None},
		{Rules{{None, from("0.0.0.0/0")}}, "8.8.8.8", None},
	} {
		if got := tt.rules.Of(netip.MustParseAddr(tt.client)); got != tt.want {
			t.Errorf("%s has %b, want %b", tt.client, got, tt.want)
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
	one := Rules{{Read, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
	for _, tt := range []struct {
		name  string
		other Rules
		equal bool
	}{
		{"the same", Rules{{Read, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}, true},
		{"none", nil, false},
		{"more rights", Rules{{Read | Write, one[0].From}}, false},
		{"another network", Rules{{Read, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/9")}}}, false},
		{"one more", append(one[:1:1], one[0]), false},
	} {
		if one.Equal(tt.other) != tt.equal || tt.other.Equal(one) != tt.equal {
			t.Errorf("%s: equal is not %v", tt.name, tt.equal)
		}
	}
}
