package config

import (
	"fmt"
	"net/netip"
	"slices"

	"player/config/rights"
	"player/config/syntax"
)

// ReadAccess returns the rights in a file of sections access, for a program that has no robots of
// its own. certified reports whether its visitors have certificates. The error joins all mistakes,
// as that of Build; a file without a section is one.
func ReadAccess(path string, certified bool) (rights.Rules, error) {
	file, err := syntax.ParseFile(path, nil)
	if err != nil {
		return nil, err
	}
	b := &builder{file: file}
	rules := b.readAccess(certified)
	for _, plugin := range file.Plugins {
		b.fail(file.Errorf(plugin.Pos, "only sections access are read here"))
	}
	for _, mistake := range slices.Concat(file.Unused(), file.Redefined()) {
		b.fail(mistake)
	}
	if rules == nil && b.errs == nil && file.Err() == nil {
		b.fail(fmt.Errorf(`%s has no section access ( allow ["read" "write"] from "10.0.0.0/8" )`, path))
	}
	return rules, file.Join(append(b.errs, file.Err())...)
}

// readAccess reads the sections access ( allow [...] from [...] name [...] ).
// certified reports whether clients have certificates.
func (b *builder) readAccess(certified bool) (rules rights.Rules) {
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
		for i, name := range s.Strings("name") {
			if name == "" {
				b.fail(b.file.Errorf(s.Field("name").Values[i].Pos, "a client without a name in its certificate cannot be given rights by it"))
			}
			rule.Names = append(rule.Names, name)
		}
		if f := s.Field("name"); f != nil && !certified {
			b.fail(b.file.Errorf(f.Pos, "rights by name need certificates of clients: %s", exampleTLS))
		}
		for _, field := range []string{"from", "name"} {
			if f := s.Field(field); f != nil && len(f.Values) == 0 {
				b.fail(s.Errorf(field, "%s is empty: it would give rights to nobody", field))
			}
		}
		if !s.Broken && (s.Field("allow") == nil || s.Field("from") == nil && s.Field("name") == nil) {
			b.fail(s.Errorf("", `access needs allow, and from or name, as in access ( allow ["read" "write" "config"] from ["10.0.0.0/8" "::1"] )`))
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
