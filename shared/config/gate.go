package config

import (
	"net"
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
)

// gates is a list of gates.
type gates struct{ to *[]Gate }

// set reads gates, separated by commas; empty text is none. Each begins with PROTOCOL=ADDRESS, so
// an item with = begins the next one. Two gates of one protocol at one address are not accepted.
// With an error, errNotAccepted, nothing is changed.
func (g gates) set(text string) error {
	if text == "" {
		*g.to = nil
		return nil
	}
	var list []Gate
	var words []string // of one gate
	for item := range strings.SplitSeq(text, ",") {
		if strings.Contains(item, "=") && len(words) > 0 {
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

// parseGate reads PROTOCOL=ADDRESS, the space if the protocol opens only one, and the access. words has at least
// one element.
func parseGate(words []string) (g Gate, err error) {
	name, at, _ := strings.Cut(words[0], "=")
	protocol, ok := foreignProtocols[name]
	want := 2
	if protocol.oneSpace {
		want = 3
	}
	if !ok || len(words) != want {
		return Gate{}, errNotAccepted
	}
	g.Protocol = name
	if protocol.oneSpace {
		g.Space = words[1]
		if g.Space == "" {
			return Gate{}, errNotAccepted
		}
	}
	switch words[want-1] {
	case writeAccess:
		g.Write = true
	case readAccess:
	default:
		return Gate{}, errNotAccepted
	}
	return g, address{&g.Address, protocol.port}.set(at)
}

func (g gates) accepts() string {
	return "gospace=ADDRESS,SPACE,read|write or pspace=ADDRESS,read|write, each address once for each protocol, such as gospace=127.0.0.1:31415,fridge,write"
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
	if g.Write {
		return strings.Join(append(words, writeAccess), ",")
	}
	return strings.Join(append(words, readAccess), ",")
}

// areLoopback reports whether only this machine can reach the gates.
func areLoopback(gates []Gate) bool {
	for _, g := range gates {
		if host, _, err := net.SplitHostPort(g.Address); err != nil || host == "" || !IsLoopback(g.Address) {
			return false
		}
	}
	return true
}
