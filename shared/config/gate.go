package config

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// The protocols of gates for foreign programs.
const (
	GoSpace = "gospace" // gob, as goSpace speaks it
	PSpace  = "pspace"  // JSON, as jSpace speaks it
)

// Gate is a gate for programs that speak a foreign protocol.
type Gate struct {
	Protocol string
	Address  string // with its port
	Space    string // that the gate opens; empty if clients name the space
	Write    bool   // clients may put and get, beside query
	// Role is that of the clients: "reader", "producer" or "worker"; empty: Write decides alone.
	Role  string
	Allow []netip.Prefix // networks of the clients; none: all
}

// foreignProtocols are the protocols of gates, with their usual port, and whether a gate
// opens only one space because its clients cannot name one.
var foreignProtocols = map[string]struct {
	port     int
	oneSpace bool
}{
	GoSpace: {31415, true},
	PSpace:  {9990, false},
}

const (
	readAccess  = "read"
	writeAccess = "write"
	roleItem    = "role"
	allowItem   = "allow"

	// maxAllow bounds the networks of a gate.
	maxAllow = 20
)

// gateRoles are the roles that a gate may give its clients, and whether they put and get.
var gateRoles = map[string]bool{"reader": false, "producer": true, Worker: true}

// gates is a list of gates.
type gates struct{ to *[]Gate }

// set reads gates, separated by commas; empty text is none. Each begins with PROTOCOL=ADDRESS, so
// an item with = begins the next one, except role= and allow=. Two gates of one protocol at one address are not accepted.
// With an error, errNotAccepted, nothing is changed.
func (g gates) set(text string) error {
	if text == "" {
		*g.to = nil
		return nil
	}
	var list []Gate
	var words []string // of one gate
	for item := range strings.SplitSeq(text, ",") {
		name, _, isAssigned := strings.Cut(strings.TrimSpace(item), "=")
		if isAssigned && name != roleItem && name != allowItem && len(words) > 0 {
			gate, err := parseGate(words)
			if err != nil {
				return err
			}
			list, words = append(list, gate), nil
		}
		words = append(words, strings.TrimSpace(item))
	}
	gate, err := parseGate(words)
	if err != nil {
		return err
	}
	list = append(list, gate)
	for i, a := range list {
		if slices.ContainsFunc(list[:i], a.excludes) {
			return errNotAccepted
		}
	}
	*g.to = list
	return nil
}

// excludes reports whether b cannot be opened together with g: both have the same protocol and
// address, and the port is not chosen by the system.
func (g Gate) excludes(b Gate) bool {
	return g.Protocol == b.Protocol && g.Address == b.Address && !strings.HasSuffix(g.Address, ":0")
}

// parseGate reads PROTOCOL=ADDRESS, the space if the protocol opens only one, the access, and networks. words has at
// least one element.
func parseGate(words []string) (g Gate, err error) {
	name, at, _ := strings.Cut(words[0], "=")
	protocol, ok := foreignProtocols[name]
	rest := words[1:]
	g.Protocol = name
	if protocol.oneSpace && len(rest) > 0 {
		g.Space, rest = rest[0], rest[1:]
		ok = ok && g.Space != "" && !strings.Contains(g.Space, "=")
	}
	if !ok || len(rest) == 0 || !g.setAccess(rest[0]) || len(rest) > 1+maxAllow {
		return Gate{}, errNotAccepted
	}
	for _, word := range rest[1:] {
		network, err := netip.ParsePrefix(strings.TrimPrefix(word, allowItem+"="))
		if err != nil || !strings.HasPrefix(word, allowItem+"=") {
			return Gate{}, errNotAccepted
		}
		g.Allow = append(g.Allow, network.Masked())
	}
	return g, address{&g.Address, protocol.port}.set(at)
}

// setAccess reads read, write or role=ROLE, and reports whether text is one of them.
func (g *Gate) setAccess(text string) bool {
	role, hasRole := strings.CutPrefix(text, roleItem+"=")
	if !hasRole {
		g.Write = text == writeAccess
		return g.Write || text == readAccess
	}
	writes, known := gateRoles[role]
	g.Role, g.Write = role, writes
	return known
}

// Allows reports whether a client at an IP address may use the gate.
func (g Gate) Allows(ip netip.Addr) bool {
	contains := func(network netip.Prefix) bool { return network.Contains(ip.Unmap().WithZone("")) }
	return len(g.Allow) == 0 || slices.ContainsFunc(g.Allow, contains)
}

func (g gates) accepts() string {
	return "gospace=ADDRESS,SPACE,ACCESS or pspace=ADDRESS,ACCESS, each address once for each protocol, where ACCESS is read, write or role=reader|producer|worker, and allow=NETWORK may follow, such as gospace=127.0.0.1:31415,fridge,write"
}
func (g gates) kind() string { return "gates" }

// String returns the text that set reads.
func (g gates) String() string {
	var words []string
	for _, gate := range *g.to {
		words = append(words, gate.String())
	}
	return strings.Join(words, ",")
}

// String returns the gate as it is written in the setting, so that parseGate reads it again.
func (g Gate) String() string {
	words := []string{g.Protocol + "=" + g.Address}
	if g.Space != "" {
		words = append(words, g.Space)
	}
	switch {
	case g.Role != "":
		words = append(words, roleItem+"="+g.Role)
	case g.Write:
		words = append(words, writeAccess)
	default:
		words = append(words, readAccess)
	}
	for _, network := range g.Allow {
		words = append(words, allowItem+"="+network.String())
	}
	return strings.Join(words, ",")
}

// IsLocal reports whether only this machine can reach the gate.
func (g Gate) IsLocal() bool {
	host, _, err := net.SplitHostPort(g.Address)
	return err == nil && host != "" && IsLoopback(g.Address)
}

// areLoopback reports whether only this machine can reach the gates.
func areLoopback(gates []Gate) bool {
	return !slices.ContainsFunc(gates, func(g Gate) bool { return !g.IsLocal() })
}

// areFenced reports whether each gate that other machines reach has what has asks for.
func areFenced(gates []Gate, has func(Gate) bool) bool {
	return !slices.ContainsFunc(gates, func(g Gate) bool { return !g.IsLocal() && !has(g) })
}
