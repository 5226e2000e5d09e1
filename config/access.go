package config

import (
	"fmt"
	"net/netip"
	"slices"

	"player/config/rights"
)

// readAccess reads the sections access ( allow [...] from [...] ).
func (b *builder) readAccess() (rules rights.Rules) {
	for _, s := range b.file.Global.Sections("access") {
		rule := rights.Rule{}
		for i, word := range s.Strings("allow") {
			right := slices.Index(rights.Names(), word)
			if right < 0 {
				b.fail(b.file.Errorf(s.Field("allow").Values[i].Pos, "unknown right %.40q%s", word, suggest(word, rights.Names())))
				continue
			}
			rule.Allow |= 1 << right
		}
		for i, text := range s.Strings("from") {
			network, err := parseNetwork(text)
			if err != nil {
				b.fail(b.file.Errorf(s.Field("from").Values[i].Pos, "%w", err))
			}
			rule.From = append(rule.From, network)
		}
		for _, field := range []string{"allow", "from"} {
			if s.Field(field) == nil && !s.Broken {
				b.fail(s.Errorf("", `access needs %s, as in access ( allow ["read" "write" "config"] from ["10.0.0.0/8" "::1"] )`, field))
			}
		}
		rules = append(rules, rule)
	}
	return rules
}

// parseNetwork reads 10.0.0.0/8, or an address, which is a network of one host.
func parseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap().WithZone("")
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return network, fmt.Errorf(`%.60q is not a network: write "10.0.0.0/8", or an address`, text)
	}
	if network.Masked() != network {
		return network, fmt.Errorf("%s has bits behind its mask: write %q, or %q for one computer", network, network.Masked(), network.Addr())
	}
	return network, nil
}
