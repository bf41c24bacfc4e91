package spaces

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"leasehold/coordinator/gate/foreign"
	"leasehold/coordinator/gate/gospace"
	"leasehold/coordinator/gate/mux"
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
		serve := gospace.New(gospace.Config{Hub: h.hub, Space: g.Space, Access: access, Log: h.config.Log}).Serve
		return h.refusingOthers(mux.Gob, serve), h.hub.Create(context.Background(), g.Space)
	case PSpace:
		return h.refusingOthers(mux.JSON, pspace.New(pspace.Config{Hub: h.hub, Access: access, Log: h.config.Log}).Serve), nil
	}
	return nil, fmt.Errorf("protocol %q: want %s: %w", g.Protocol, strings.Join([]string{string(Native), string(GoSpace), string(PSpace)}, ", "), fault.ErrInvalid)
}

// refusingOthers returns serve for a port whose clients of other protocols get an error in words.
func (h *Host) refusingOthers(p mux.Protocol, serve func(context.Context, net.Listener) error) func(context.Context, net.Listener) error {
	return func(ctx context.Context, l net.Listener) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		port := mux.New(l, mux.Config{Log: h.config.Log})
		gate := port.Listener(p)
		ended := make(chan error, 1)
		go func() {
			defer cancel() // without its port the gate has no more to do
			ended <- port.Serve(ctx)
		}()
		err := serve(ctx, gate)
		cancel()
		return errors.Join(err, <-ended)
	}
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
