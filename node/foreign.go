package node

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"leasehold/coordinator/gate/foreign"
	"leasehold/coordinator/gate/gospace"
	"leasehold/coordinator/gate/mux"
	"leasehold/coordinator/gate/pspace"
	"leasehold/shared/config"
	"leasehold/shared/process/supervisor"
)

// foreignGate is the open port of a gate for foreign programs.
type foreignGate struct {
	config.Gate
	port net.Listener
}

// foreignGates are the gates for foreign programs of one coordinator.
type foreignGates []foreignGate

// listenForeign opens the ports of gates. If one fails, the others stay in p.open.
func (p *ports) listenForeign(wanted []config.Gate) (open foreignGates, err error) {
	for _, g := range wanted {
		protocol := mux.Gob
		if g.Protocol == config.PSpace {
			protocol = mux.JSON
		}
		port, err := p.listen("gate", g.Address, protocol)
		if err != nil {
			return nil, err
		}
		if shared := p.portOf(port); shared != nil && g.Role != "" && len(g.Allow) > 0 {
			shared.AdmitPlain(protocol)
		}
		open = append(open, foreignGate{g, port})
	}
	return open, nil
}

// addresses returns the gates as in the setting, with their actual ports.
func (f foreignGates) addresses() (all []string) {
	for _, g := range f {
		actual := g.Gate
		actual.Address = g.port.Addr().String()
		all = append(all, actual.String())
	}
	return all
}

// tasks returns the task that serves the gates and their hub; none without gates. It creates the spaces that gates
// name. The hub ends last, because the end of a connection confirms the answers that its client has.
func (f foreignGates) tasks(ctx context.Context, h *hosted) ([]supervisor.Task, error) {
	if len(f) == 0 {
		return nil, nil
	}
	hub := foreign.NewHub(foreign.Config{
		Engine: h.Engine(), Connections: maxConnections(), Exempt: h.cfg.QuotaExempt, Memory: h.memory, Log: h.log,
	})
	var gates []supervisor.Task
	for _, g := range f {
		serve, err := g.open(ctx, hub, h.log)
		if err != nil {
			return nil, fmt.Errorf("gate %s: %w", g.Gate, err)
		}
		gates = append(gates, func(ctx context.Context) error { return serve(ctx, fenced{g.port, g.Gate, h.log}) })
	}
	return []supervisor.Task{func(ctx context.Context) error {
		return supervisor.Host(ctx, func(ctx context.Context, ready func()) error {
			ready()
			return hub.Run(ctx)
		}, func(ctx context.Context) error { return supervisor.All(ctx, gates...) })
	}}, nil
}

// open returns the function that serves the gate's port by its protocol. A gate for goSpace is for one space,
// which open creates; one for pSpace names a space in each request.
func (g foreignGate) open(ctx context.Context, hub *foreign.Hub, log *slog.Logger) (serve func(context.Context, net.Listener) error, err error) {
	access := foreign.Access{Write: g.Write}
	if g.Role != "" {
		access.Permit = permit(g.Gate)
	}
	if g.Protocol == config.PSpace {
		return pspace.New(pspace.Config{Hub: hub, Access: access, Log: log}).Serve, nil
	}
	return gospace.New(gospace.Config{Hub: hub, Space: g.Space, Access: access, Log: log}).Serve, hub.Create(ctx, g.Space)
}
