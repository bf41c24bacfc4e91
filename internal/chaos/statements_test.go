//go:build linux

package chaos

import (
	"bytes"
	"encoding/binary"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"leasehold/internal/pgserver"
)

// statements ends the backend of a connection at each kind of statement that passes a proxy: once before the server gets
// it, and once when its answer comes, which is lost.
type statements struct {
	t      *testing.T
	server *pgserver.Server
	chosen func(kind string) bool

	mu    sync.Mutex        // guards what follows
	ended map[string]moment // of each kind that was seen, the last moment at which a backend was ended
	off   bool
}

// moment is when a backend is ended.
type moment int

const (
	notEnded moment = iota
	endedBefore
	endedAfter
)

// endStatements has the backends of all members ended at the chosen kinds of statements.
func (s *shared) endStatements(chosen func(kind string) bool) *statements {
	s.t.Helper()
	all := &statements{t: s.t, server: s.server, chosen: chosen, ended: map[string]moment{}}
	for _, m := range s.members {
		m.proxy.change(func() { m.proxy.tap = all.tap })
	}
	s.server.Terminate(s.t, "leasehold%") // what connects from now on passes the tap
	return all
}

// next returns when to end the backend at a statement of a kind.
func (all *statements) next(kind string) moment {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.off || !all.chosen(kind) || all.ended[kind] == endedAfter {
		return notEnded
	}
	all.ended[kind]++
	return all.ended[kind]
}

// left returns the kinds whose second moment has not come.
func (all *statements) left() (kinds []string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for kind, last := range all.ended {
		if last != endedAfter {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// endedTwice reports whether both moments of a kind have come.
func (all *statements) endedTwice(kind string) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.ended[kind] == endedAfter
}

// stop has no more backends ended, and returns the kinds.
func (all *statements) stop() (kinds []string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.off = true
	return slices.Sorted(maps.Keys(all.ended))
}

// tap returns what reads the messages of one connection, in both directions.
func (all *statements) tap(server net.Conn) (request, answer func([]byte) []byte) {
	c := &conversation{all: all, port: server.LocalAddr().(*net.TCPAddr).Port, texts: map[string]string{}}
	return c.request, c.answer
}

// conversation is one connection of a client. It has what its messages refer to.
type conversation struct {
	all   *statements
	port  int // of the client, as the server sees it
	begun bool
	part  []byte            // of a message
	texts map[string]string // of prepared statements, by name
	bound string            // the statement that Execute runs
	wrote string            // the last kind in this transaction that writes

	mu   sync.Mutex // guards what follows
	at   moment     // when the backend is ended; the rest is lost then
	over bool
}

// request returns the messages of the client that the server gets.
func (c *conversation) request(b []byte) (passed []byte) {
	for _, m := range c.messages(b) {
		if c.begun {
			c.endAt(c.kindOf(m))
		}
		c.begun = true
		if c.isOver() {
			return passed
		}
		passed = append(passed, m...)
	}
	return passed
}

// messages returns the messages that are complete. All but the first one begin with a byte that tells what they are; then
// follows the length.
func (c *conversation) messages(b []byte) (all [][]byte) {
	c.part = append(c.part, b...)
	begun := c.begun
	for {
		head := 0
		if begun {
			head = 1
		}
		if len(c.part) < head+4 {
			return all
		}
		n := head + int(binary.BigEndian.Uint32(c.part[head:]))
		if len(c.part) < n {
			return all
		}
		all, c.part, begun = append(all, c.part[:n:n]), c.part[n:], true
	}
}

// kindOf returns the kind of statement that a message runs; "" if it runs none.
func (c *conversation) kindOf(message []byte) string {
	first, rest, _ := bytes.Cut(message[5:], []byte{0})
	second, _, _ := bytes.Cut(rest, []byte{0})
	sql := ""
	switch message[0] {
	case 'P': // Parse: name, text
		c.texts[string(first)] = string(second)
	case 'B': // Bind: portal, name
		c.bound = c.texts[string(second)]
	case 'E': // Execute
		sql = c.bound
	case 'Q': // Query: text
		sql = string(first)
	}
	kind, writes := kindOf(sql)
	switch {
	case writes:
		c.wrote = kind
	case kind == "BEGIN":
		c.wrote = ""
	case kind == "COMMIT" && c.wrote != "":
		return kind + " of " + c.wrote
	}
	return kind
}

var (
	writing = regexp.MustCompile(`(?:INSERT INTO|DELETE FROM|UPDATE) "?(\w+)"?(?: SET \w+)?`)
	reading = regexp.MustCompile(`(?s)^SELECT.*?FROM (\w+)`)
)

// kindOf names the kind of a statement: what it writes to which tables, or else the first one that it reads.
func kindOf(sql string) (kind string, writes bool) {
	sql = strings.Join(strings.Fields(sql), " ")
	var parts []string
	for _, m := range writing.FindAllStringSubmatch(sql, -1) {
		if m[1] != "SET" { // ON CONFLICT DO UPDATE SET
			parts = append(parts, m[0])
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, ", "), true
	}
	if m := reading.FindStringSubmatch(sql); m != nil {
		kind = "SELECT FROM " + m[1]
		if strings.HasSuffix(sql, " FOR SHARE") {
			kind += " FOR SHARE"
		}
		return kind, false
	}
	first, _, _ := strings.Cut(sql, " ")
	return strings.ToUpper(strings.TrimSuffix(first, ";")), false
}

// endAt ends the backend now, or at the next answer, if it is time to do so at a statement of a kind.
func (c *conversation) endAt(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kind == "" || c.at != notEnded {
		return
	}
	c.at = c.all.next(kind)
	if c.at == endedBefore {
		c.end()
	}
}

// end ends the backend. The caller holds mu.
func (c *conversation) end() {
	c.over = true
	if err := c.all.server.EndConnection(c.port); err != nil {
		c.all.t.Error(err)
	}
}

func (c *conversation) isOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// answer returns the bytes of the server that the client gets: not the answer at which the backend is ended, and nothing
// more after it. A backend that is ended before tells that.
func (c *conversation) answer(b []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at != endedAfter {
		return b
	}
	if !c.over && len(b) > 0 {
		c.end()
	}
	return nil
}
