package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"leasehold/coordinator/api"
	"leasehold/coordinator/gate/native"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/process/datadir"
	"leasehold/shared/process/supervisor"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal/postgres"
)

// lookInterval is how often a coordinator that stands by reads which one serves.
const lookInterval = time.Second

// standBy answers at the ports that another coordinator serves, also while the database is away, until it is time to
// claim the realm or ctx ends. It returns the journal to claim, which is nil after an error. The ports are closed when
// it returns.
func (m *member) standBy(ctx context.Context) (j *postgres.Journal, err error) {
	if m.joined == nil { // joining needs the tables of the journal
		if j, err = m.openJournal(ctx); err != nil {
			return nil, err
		}
	}
	l, err := listenWith(m.cfg, m.ca, m.log)
	if err != nil {
		return nil, errors.Join(err, closeIfOpen(j))
	}
	defer func() {
		if err = errors.Join(err, l.close()); err != nil {
			err, j = errors.Join(err, closeIfOpen(j)), nil
		}
	}()
	addresses := l.addresses()
	addresses.Standby = true
	if m.ca != nil {
		addresses.CA, addresses.TokenFile = m.ca.Fingerprint().String(), filepath.Join(m.cfg.Data, identityDir, datadir.TokenFile)
	}
	if err := m.introduce(ctx, l, addresses); err != nil {
		return j, err
	}
	if err := datadir.WriteAddresses(m.cfg.Data, addresses); err != nil {
		return j, err
	}
	defer os.Remove(filepath.Join(m.cfg.Data, datadir.AddressFile))
	gate := native.New(native.Config{Engine: standbyEngine{m.serving}, HTTP: addresses.HTTP, Connections: maxConnections(), MaxTTL: m.cfg.SessionMaxTTL, Log: m.log})
	handler := api.NewStandby(api.Standby{Owner: func() string { return m.serving().API }, Hosts: m.cfg.HTTPNames, Prefix: m.cfg.Prefix, Log: m.log})
	tasks := append(l.ports.tasks(m.log),
		func(ctx context.Context) error { return gate.Serve(ctx, l.gate) },
		func(ctx context.Context) error { return api.Serve(ctx, l.http, handler) },
		func(ctx context.Context) (err error) {
			if j == nil {
				if j, err = m.openJournal(ctx); err != nil {
					return unlessEnded(ctx, err)
				}
			}
			return supervisor.All(ctx,
				func(ctx context.Context) error { return m.look(ctx, j) },
				func(ctx context.Context) error { return j.Watch(ctx, m.cfg.OwnerLost) })
		},
	)
	if l.gateHTTP != nil {
		tasks = append(tasks, func(ctx context.Context) error { return api.Serve(ctx, l.gateHTTP, handler) })
	}
	err = supervisor.All(ctx, tasks...) // which sets j
	return j, err
}

func closeIfOpen(j *postgres.Journal) error {
	if j == nil {
		return nil
	}
	return j.Close()
}

// openJournal opens the journal of the realm. It waits while the database is away.
func (m *member) openJournal(ctx context.Context) (j *postgres.Journal, err error) {
	err = m.await(ctx, func() (err error) {
		j, err = postgres.Open(ctx, m.journalConfig())
		return err
	})
	return j, err
}

// look reads which coordinator serves, and the identity of the realm, until ctx ends. It fails with errOtherIdentity if
// that one has changed. While the database is away, what was read last stays.
func (m *member) look(ctx context.Context, j *postgres.Journal) error {
	ticks := time.NewTicker(lookInterval)
	defer ticks.Stop()
	for {
		if found, err := m.findOwner(ctx, j); err == nil {
			m.mu.Lock()
			m.owner = found
			m.mu.Unlock()
		}
		if changed, err := m.identityChanged(ctx); err == nil && changed {
			return errOtherIdentity
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// findOwner reads which coordinator serves; the zero Member if none of the list does.
func (m *member) findOwner(ctx context.Context, j *postgres.Journal) (types.Member, error) {
	all, err := m.members(ctx, j)
	for _, other := range all {
		if other.Role == ownerRole && other.Name != m.name {
			return other, nil
		}
	}
	return types.Member{}, err
}

// serving returns the coordinator that serves, as this one knew it a moment ago; the zero Member if it is unknown.
func (m *member) serving() types.Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owner
}

// standbyEngine refuses sessions, because another coordinator has the spaces.
type standbyEngine struct{ serving func() types.Member }

// OpenGateSession implements native.Engine. It fails with fault.ErrUnavailable, and names the coordinator that serves.
func (s standbyEngine) OpenGateSession(context.Context, engine.Opening) (engine.GateSession, error) {
	if gates := s.serving().Gates; len(gates) > 0 {
		return nil, fmt.Errorf("this coordinator stands by: the gate of the one that serves is at %s: %w", gates[0], fault.ErrUnavailable)
	}
	return nil, fmt.Errorf("this coordinator stands by, and it does not know which one serves: %w", fault.ErrUnavailable)
}

// EndSession implements native.Engine. There are no sessions.
func (s standbyEngine) EndSession(context.Context, string) error { return fault.ErrNotFound }
