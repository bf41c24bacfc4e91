package node

import (
	"log/slog"
	"net"
	"net/netip"

	"leasehold/coordinator/gate/foreign"
	"leasehold/coordinator/permission"
	"leasehold/shared/access"
	"leasehold/shared/config"
	"leasehold/shared/space"
)

// fenced is the port of a gate for foreign programs that accepts only clients in the networks of the gate. It closes
// the connections of others without an answer.
type fenced struct {
	net.Listener
	gate config.Gate
	log  *slog.Logger
}

// Accept implements net.Listener.
func (f fenced) Accept() (net.Conn, error) {
	for {
		c, err := f.Listener.Accept()
		if err != nil {
			return nil, err
		}
		remote, err := netip.ParseAddrPort(c.RemoteAddr().String())
		if err == nil && f.gate.Allows(remote.Addr()) {
			return c, nil
		}
		f.log.Debug("gate: refused a client outside of its networks", "gate", f.gate, "remote", c.RemoteAddr())
		_ = c.Close()
	}
}

// permit returns what refuses operations of the clients of a gate that their role does not allow.
func permit(g config.Gate) func(foreign.Operation) error {
	role, err := access.ParseRoles(g.Role)
	clients := access.Identity{ID: "gate " + g.Address, Roles: role}
	return func(o foreign.Operation) error {
		switch {
		case err != nil: // the setting has only roles that there are
			return err
		case o.Verb == space.VerbPut || o.Verb == space.VerbPutP:
			return permission.Put(clients, o.Space)
		case o.Verb.Takes():
			return permission.Take(clients, o.Space)
		}
		return permission.Read(clients, o.Space) // the gates know only puts, gets, queries and counts
	}
}
