// Package peer limits what one machine on the network takes of a coordinator: its
// connections, sessions, waiting calls and spaces.
//
// A peer is an IPv4 address, or a network of IPv6 addresses with a prefix of 64 bits,
// because one machine can use all addresses of such a network. Loopback addresses and
// those that the administrator exempts have no quota, and neither have connections without
// an IP address. Many machines behind one address share its quota.
//
// Invariant: what a quota has counted for a peer is at most its maximum, and a peer that
// takes nothing uses no memory. A client that has many addresses has as many quotas, because
// nothing authenticates it.
package peer

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"

	"leasehold/shared/fault"
)

// Peer is a machine for which quotas are counted. The zero Peer has no quotas.
type Peer struct{ network netip.Prefix }

// Of returns the peer of an address such as net.Conn.RemoteAddr; the zero Peer if the
// address is of loopback, in an exempt network, or no IP address.
func Of(address net.Addr, exempt []netip.Prefix) Peer {
	tcp, isTCP := address.(*net.TCPAddr)
	if !isTCP {
		return Peer{}
	}
	return of(tcp.AddrPort().Addr(), exempt)
}

// OfText is Of for an address and a port as text, such as http.Request.RemoteAddr.
func OfText(address string, exempt []netip.Prefix) Peer {
	parsed, err := netip.ParseAddrPort(address)
	if err != nil {
		return Peer{}
	}
	return of(parsed.Addr(), exempt)
}

// of returns the peer of an IP address: the address itself, or its network of 64 bits if it is of
// IPv6; the zero Peer if it has no quota.
func of(ip netip.Addr, exempt []netip.Prefix) Peer {
	ip = ip.Unmap().WithZone("")
	isExempt := func(network netip.Prefix) bool { return network.Contains(ip) }
	if !ip.IsValid() || ip.IsLoopback() || slices.ContainsFunc(exempt, isExempt) {
		return Peer{}
	}
	return Peer{networkOf(ip)}
}

// networkOf returns the IPv4 address itself, or the network of 64 bits of one of IPv6.
func networkOf(ip netip.Addr) netip.Prefix {
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	network, _ := ip.Prefix(bits) // valid for every address
	return network
}

// Network returns the network of an address and a port as text, such as http.Request.RemoteAddr, also if it has no
// quotas: the IPv4 address itself, or 64 bits of one of IPv6. It is the zero Prefix for another text.
func Network(address string) netip.Prefix {
	parsed, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Prefix{}
	}
	return networkOf(parsed.Addr().Unmap().WithZone(""))
}

// Quota counts what peers have taken of one resource. Its methods may be called
// concurrently.
type Quota struct {
	what string // in messages, plural
	max  int    // for each peer

	mu    sync.Mutex // guards taken
	taken map[Peer]int
}

// NewQuota returns a quota of max for each peer.
func NewQuota(what string, max int) *Quota {
	return &Quota{what: what, max: max, taken: map[Peer]int{}}
}

// Take counts one more for a peer. If the peer has the maximum already, it counts nothing and fails with
// fault.ErrOverloaded.
func (q *Quota) Take(p Peer) error {
	if p == (Peer{}) {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken[p] >= q.max {
		return fmt.Errorf("%s: %w: a peer may have at most %d %s (exempt it: --quota-exempt)", p.network, fault.ErrOverloaded, q.max, q.what)
	}
	q.taken[p]++
	return nil
}

// Return undoes one Take of a peer that succeeded. A peer that has nothing left is forgotten,
// so that it takes no memory.
func (q *Quota) Return(p Peer) {
	if p == (Peer{}) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken[p]--; q.taken[p] == 0 {
		delete(q.taken, p)
	}
}
