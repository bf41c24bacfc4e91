package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"syscall"

	"leasehold/coordinator/gate/mux"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/supervisor"
)

// ports opens the ports of a coordinator. Gates with the same address share a port, unless its number is 0.
type ports struct {
	uses   map[string]int       // how many gates have an address
	shared map[string]*mux.Port // by address: ports of several gates that are open
	ports  []*mux.Port          // those of shared, and of gates for foreign programs
	open   []net.Listener       // all that were opened; the caller closes them
	tls    *tls.Config          // of every port; nil: they have no TLS
}

// newPorts counts the gates of each address.
func newPorts(cfg config.Config) ports {
	p := ports{uses: map[string]int{}, shared: map[string]*mux.Port{}}
	p.uses[cfg.Listen]++
	p.uses[cfg.HTTP]++
	if cfg.CompatListen != "" {
		p.uses[cfg.CompatListen]++
	}
	for _, g := range cfg.Gates {
		p.uses[g.Address]++
	}
	return p
}

// listen opens the port of a gate that speaks a protocol, or shares the one that a gate with the
// same address has opened: then each gets the connections that begin with its protocol. key names
// the setting of the address in errors, which give fault.ErrInvalid.
func (p *ports) listen(key, address string, protocol mux.Protocol) (net.Listener, error) {
	if port := p.shared[address]; port != nil {
		return port.Listener(protocol), nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		err = fmt.Errorf("%s: %w: %w", key, fault.ErrInvalid, err)
		if errors.Is(err, syscall.EADDRINUSE) {
			err = fmt.Errorf("%w; give another address with --%s, or use the coordinator that has this one (leasehold status)", err, key)
		}
		return nil, err
	}
	p.open = append(p.open, l)
	// With port 0 each gate gets a free port of its own.
	alone := p.uses[address] == 1 || strings.HasSuffix(address, ":0")
	if p.tls == nil && alone && (protocol == mux.Native || protocol == mux.HTTP) {
		return l, nil // these answer clients of other protocols themselves
	}
	port := mux.New(l, mux.Config{TLS: p.tls, Pending: min(mux.MaxPending, maxConnections())})
	p.ports = append(p.ports, port)
	if !alone {
		p.shared[address] = port
	}
	return port.Listener(protocol), nil
}

// portOf returns the port of a listener, which recognises protocols; nil if it recognises none.
func (p *ports) portOf(l net.Listener) *mux.Port {
	for _, port := range p.ports {
		if port.Has(l) {
			return port
		}
	}
	return nil
}

// tasks returns the tasks that serve the ports that recognise protocols. The other ports are served
// by their gates.
func (p *ports) tasks(log *slog.Logger) (all []supervisor.Task) {
	for _, port := range p.ports {
		port.Log = log
		all = append(all, func(ctx context.Context) error { return port.Serve(ctx) })
	}
	return all
}
