package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"

	"leasehold/shared/fault"
)

// A guard decides which addresses may be dialled.
type guard struct {
	mu       sync.RWMutex    // guards hosts and networks, which the operator allowed
	hosts    map[string]bool // name, or name:port
	networks []netip.Prefix

	resolver *net.Resolver // nil: the system's; tests set another
}

// allow adds a host, a host with a port, an address or a network.
func (g *guard) allow(entry string) error {
	name := normal(entry)
	g.mu.Lock()
	defer g.mu.Unlock()
	if p, err := netip.ParsePrefix(name); err == nil {
		g.networks = append(g.networks, p.Masked())
		return nil
	}
	if name == "" || strings.ContainsAny(name, "/@? \t") {
		return fmt.Errorf("allow %q: want a host, host:port or network such as 10.1.0.0/16: %w", entry, fault.ErrInvalid)
	}
	if g.hosts == nil {
		g.hosts = map[string]bool{}
	}
	g.hosts[strings.Trim(name, "[]")] = true
	return nil
}

func (g *guard) allowURL(u *url.URL) error { return g.allow(hostPort(u)) }

// named reports whether the operator allowed a host, alone or with this port.
func (g *guard) named(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	g.mu.RLock()
	defer g.mu.RUnlock()
	return err == nil && (g.hosts[normal(host)] || g.hosts[normal(hostport)])
}

// covered reports whether an address is in a network that the operator allowed.
func (g *guard) covered(ip netip.Addr) bool {
	ip = plain(ip)
	g.mu.RLock()
	defer g.mu.RUnlock()
	return slices.ContainsFunc(g.networks, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// checkURL refuses all that can be refused without resolving a name: a private address and this machine's name,
// unless they are allowed, and other spellings of addresses.
func (g *guard) checkURL(u *url.URL) error {
	host := normal(u.Hostname())
	ip, err := netip.ParseAddr(host)
	if err == nil {
		return g.checkIP(hostPort(u), ip)
	}
	if err := checkSpelling(host); err != nil {
		return err
	}
	if (host == "localhost" || strings.HasSuffix(host, ".localhost")) && !g.named(hostPort(u)) {
		return fmt.Errorf("%s is this machine: %w", host, refused(host))
	}
	return nil
}

// checkIP refuses an address unless it is public, or the operator allowed it or the name at which it was found.
func (g *guard) checkIP(hostport string, ip netip.Addr) error {
	if !isPrivate(ip) || g.covered(ip) || g.named(hostport) {
		return nil
	}
	return fmt.Errorf("%s is not a public address: %w", ip, refused(hostport))
}

// refused returns the end of an error about a host, of the kind fault.ErrInvalid, which tells the
// operator how to allow it.
func refused(host string) error {
	return &refusal{fmt.Errorf("add %q to the allowed private hosts if you trust it: %w", host, fault.ErrInvalid)}
}

// dial connects to addr ("host:port"), unless it resolves to a refused address.
func (g *guard) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout, Resolver: g.resolver, Control: func(_, dialled string, _ syscall.RawConn) error {
		return g.checkDialled(addr, dialled)
	}}
	return d.DialContext(ctx, network, addr)
}

// checkDialled refuses, with fault.ErrInvalid, an address that a name was resolved to. The dialer
// calls it once for each address tried, after resolving, so that no later answer of a name server can
// replace a checked address.
func (g *guard) checkDialled(addr, dialled string) error {
	ap, err := netip.ParseAddrPort(dialled)
	if err != nil {
		return fmt.Errorf("dialled %q: %w", dialled, fault.ErrInvalid)
	}
	return g.checkIP(addr, ap.Addr())
}

func normal(host string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(host)), ".")
}

// hostPort returns the host, as normal writes it, and the port of a URL, with the default port of
// its scheme.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(normal(u.Hostname()), port)
}
