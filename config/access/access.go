// Package access reads sections access ( allow [...] from [...] name [...] ) of files: rights by
// network and by certificate.
package access

import (
	"fmt"
	"net/netip"
	"slices"

	"player/config/rights"
	"player/formats/syntax"
)

// ReadFile returns the rights in a file of sections access, for a program that has no robots of
// its own. certificates is as in Read. The error joins all mistakes; a file without a section is
// also a mistake.
func ReadFile(path, certificates string) (rights.Rules, error) {
	file, err := syntax.ParseFile(path, nil)
	if err != nil {
		return nil, err
	}
	rules, mistakes := Read(file, certificates)
	for _, plugin := range file.Plugins {
		mistakes = append(mistakes, file.Errorf(plugin.Pos, "only sections access are read here"))
	}
	for _, mistake := range slices.Concat(file.Unused(), file.Redefined()) {
		mistakes = append(mistakes, mistake)
	}
	if rules == nil && mistakes == nil {
		mistakes = append(mistakes, fmt.Errorf(`%s has no section access ( allow ["read" "write"] from "10.0.0.0/8" )`, path))
	}
	return rules, file.Join(mistakes...)
}

// Read returns the rights in the sections access of a file, and all mistakes in them. certificates
// is a text for an error: how clients get certificates. Empty: they have some.
func Read(file *syntax.File, certificates string) (rules rights.Rules, mistakes []error) {
	fail := func(err error) { mistakes = append(mistakes, err) }
	for _, s := range file.Global.Sections("access") {
		rule := rights.Rule{}
		for i, word := range s.Strings("allow") {
			right := slices.Index(rights.Names(), word)
			if right < 0 {
				fail(file.Errorf(s.Field("allow").Values[i].Pos, "unknown right %.40q%s", word, syntax.Suggest(word, rights.Names())))
				continue
			}
			rule.Allow |= 1 << right
		}
		for i, text := range s.Strings("from") {
			network, err := ParseNetwork(text)
			if err != nil {
				fail(file.Errorf(s.Field("from").Values[i].Pos, "%w", err))
			}
			rule.From = append(rule.From, network)
		}
		for i, name := range s.Strings("name") {
			if name == "" {
				fail(file.Errorf(s.Field("name").Values[i].Pos, "a client without a name in its certificate cannot be given rights by it"))
			}
			rule.Names = append(rule.Names, name)
		}
		if f := s.Field("name"); f != nil && certificates != "" {
			fail(file.Errorf(f.Pos, "rights by name need certificates of clients: %s", certificates))
		}
		for _, field := range []string{"from", "name"} {
			if f := s.Field(field); f != nil && len(f.Values) == 0 {
				fail(s.Errorf(field, "%s is empty: it would give no client any rights", field))
			}
		}
		if !s.Broken && (s.Field("allow") == nil || s.Field("from") == nil && s.Field("name") == nil) {
			fail(s.Errorf("", `access needs allow, and from or name, as in access ( allow ["read" "write" "config"] from ["10.0.0.0/8" "::1"] )`))
		}
		rules = append(rules, rule)
	}
	return rules, mistakes
}

// ParseNetwork reads 10.0.0.0/8, or an address, which is a network of one host. IPv4 mapped into
// IPv6 becomes IPv4, like in all addresses of clients.
func ParseNetwork(text string) (netip.Prefix, error) {
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
	if network.Addr().Is4In6() && network.Bits() >= mappedBits {
		network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mappedBits)
	}
	return network, nil
}

// mappedBits is the number of bits before an IPv4 address in IPv6 (RFC 4291, 2.5.5.2).
const mappedBits = 96
