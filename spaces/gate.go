package spaces

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"leasehold/coordinator/gate/foreign"
	"leasehold/coordinator/gate/gospace"
	"leasehold/coordinator/gate/native"
	"leasehold/coordinator/gate/pspace"
	"leasehold/shared/fault"
)

// Protocol is what the clients of a gate speak.
type Protocol string

// The protocols. The empty one is Native.
const (
	Native  Protocol = "native"  // package remote, Join, and leasehold space
	GoSpace Protocol = "gospace" // programs of goSpace: one space
	PSpace  Protocol = "pspace"  // programs of jSpace and its relatives: JSON
)

// Gate opens the spaces of a host at an address.
type Gate struct {
	Protocol Protocol
	Address  string // host:port; port 0 is a free one
	Space    string // of a GoSpace gate: the space that it opens, which is made if it does not exist
	ReadOnly bool   // of a GoSpace or PSpace gate: clients only query
}

// OpenGate opens a gate and returns its actual address. Errors: fault.ErrInvalid for an unknown protocol,
// fault.ErrForbidden for an address that other machines reach, unless the host is Insecure, and fault.ErrClosed after
// Stop. The address is checked after the listener has opened, because only then a name or a missing host is resolved.
func (h *Host) OpenGate(g Gate) (address string, err error) {
	serve, err := h.prepareServer(g)
	if err != nil {
		return "", fmt.Errorf("gate %s: %w", g.Address, err)
	}
	l, err := net.Listen("tcp", g.Address)
	if err != nil {
		return "", fmt.Errorf("gate %s: %w", g.Address, err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); !h.config.Insecure && !(ok && a.IP.IsLoopback()) {
		return "", errors.Join(fmt.Errorf("gate %s: other machines reach it, and gates do not authenticate: use 127.0.0.1 or Config.Insecure: %w", g.Address, fault.ErrForbidden), l.Close())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return "", errors.Join(h.closedError(), l.Close())
	}
	address = l.Addr().String()
	h.gates[address] = start(func(ctx context.Context) error { return serve(ctx, l) })
	return address, nil
}

// prepareServer returns the function that serves the connections of a gate. It makes the space of a GoSpace gate.
func (h *Host) prepareServer(g Gate) (func(context.Context, net.Listener) error, error) {
	access := foreign.Access{Write: !g.ReadOnly}
	switch g.Protocol {
	case Native, "":
		return native.New(native.Config{Engine: h.engine, Log: h.config.Log}).Serve, nil
	case GoSpace:
		if g.Space == "" {
			return nil, fmt.Errorf("a gate for goSpace opens one space: want its name: %w", fault.ErrInvalid)
		}
		return gospace.New(gospace.Config{Hub: h.hub, Space: g.Space, Access: access, Log: h.config.Log}).Serve, h.hub.Create(context.Background(), g.Space)
	case PSpace:
		return pspace.New(pspace.Config{Hub: h.hub, Access: access, Log: h.config.Log}).Serve, nil
	}
	return nil, fmt.Errorf("protocol %q: want %s: %w", g.Protocol, strings.Join([]string{string(Native), string(GoSpace), string(PSpace)}, ", "), fault.ErrInvalid)
}

// CloseGate closes the gate at an address that OpenGate returned. Its connections end; the spaces and other gates
// stay open. It fails with fault.ErrNotFound if there is none.
func (h *Host) CloseGate(address string) error {
	h.mu.Lock()
	g := h.gates[address]
	delete(h.gates, address)
	h.mu.Unlock()
	if g == nil {
		return fmt.Errorf("gate %s: %w", address, fault.ErrNotFound)
	}
	return g.stop()
}
