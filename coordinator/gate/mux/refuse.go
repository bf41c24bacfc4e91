package mux

import (
	"fmt"
	"net"
	"sync"
	"time"

	"leasehold/shared/process/wording"
)

// names are the protocols in messages. Clients of TLS are not served.
var names = []struct {
	protocol Protocol
	name     string
}{{Native, "leasehold's protocol"}, {HTTP, "HTTP"}, {JSON, "the protocol of pSpace (JSON)"}, {Gob, "the protocol of goSpace (gob)"}}

// refuse tells a client that the port does not speak its protocol. A client whose protocol has no message
// for that gets a line of text with the protocols of the port.
func (p *Port) refuse(c net.Conn, protocol Protocol) {
	if protocol != Gob && protocol != Other {
		if p.gates[HTTP] != nil {
			RefuseAtHTTP(c, protocol)
		} else {
			Refuse(c, protocol)
		}
		return
	}
	var spoken []string
	for _, n := range names {
		if p.gates[n.protocol] != nil {
			spoken = append(spoken, n.name)
		}
	}
	RefuseText(c, wording.And(spoken...))
}

// RefuseText tells a client in a line of text what a port speaks. The caller closes the connection.
func RefuseText(c net.Conn, spoken string) {
	_, _ = fmt.Fprintf(c, "leasehold: this port does not speak the protocol of this client, only %s: check the address\n", spoken) // the connection is closed in any case
	drain(c)
}

// Bounds of the log of refused connections.
const (
	refusedEvery = time.Minute // for each peer and protocol
	maxRefused   = 1_000       // peers that are remembered; others are not logged meanwhile
)

// Refusals remembers whose refusals were logged, because clients of a wrong protocol often retry, and an
// intruder must not fill the disk with logs. The zero Refusals is ready, and may be used concurrently.
type Refusals struct {
	mu sync.Mutex // guards at
	at map[refused]time.Time
}

type refused struct {
	host     string
	protocol Protocol
}

// IsDue reports whether a refusal should be logged, and counts it as logged.
func (l *Refusals) IsDue(remote net.Addr, protocol Protocol) bool {
	r := refused{remote.String(), protocol}
	if host, _, err := net.SplitHostPort(r.host); err == nil {
		r.host = host
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for other, at := range l.at {
		if now.Sub(at) >= refusedEvery {
			delete(l.at, other)
		}
	}
	if l.at == nil {
		l.at = map[refused]time.Time{}
	}
	if _, ok := l.at[r]; ok || len(l.at) >= maxRefused {
		return false
	}
	l.at[r] = now
	return true
}
