package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/net/netutil"

	"leasehold/coordinator"
	"leasehold/coordinator/api"
	"leasehold/coordinator/dashboard"
	"leasehold/coordinator/gate/native"
	"leasehold/shared/browse"
	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// addressFile is where a coordinator says in its data folder how to reach it.
const addressFile = "coordinator.json"

// addresses is what addressFile holds.
type addresses struct {
	PID  int    `json:"pid"`
	Gate string `json:"gate"`
	HTTP string `json:"http"`
}

// network opens a coordinator to other processes: the native gate, and the API
// with its page.
type network struct {
	*house
	gate, http net.Listener
}

// listen takes the two addresses; a port of 0 is any that is free.
func (h *house) listen(gate, http string) (*network, error) {
	n := &network{house: h}
	var err error
	if n.gate, err = net.Listen("tcp", gate); err != nil {
		return nil, fmt.Errorf("listen: %w: %w", fault.ErrInvalid, err)
	}
	if n.http, err = net.Listen("tcp", http); err != nil {
		return nil, errors.Join(fmt.Errorf("http: %w: %w", fault.ErrInvalid, err), n.gate.Close())
	}
	return n, nil
}

// close gives the addresses up, if they are not yet.
func (n *network) close() error {
	for _, l := range []net.Listener{n.gate, n.http} {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
	}
	return nil
}

// serve opens w's coordinator, which must run and have its spaces, until ctx ends.
func (n *network) serve(ctx context.Context, w *crew) error {
	c := w.coordinator
	conn, err := c.Engine().Connect(ctx, coordinator.SessionID("api"), 0)
	if err != nil {
		return err
	}
	repo := space.Over(conn)
	if err := n.announce(); err != nil {
		return err
	}
	defer os.Remove(filepath.Join(n.cfg.Data, addressFile))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gate := native.New(native.Config{
		Engine: c.Engine(), HTTP: n.http.Addr().String(),
		Heartbeat: n.cfg.Heartbeat, Lost: n.cfg.SessionLost, Connections: connections(), LargeAnswers: []string{browse.Procedure}, Log: n.log,
	})
	page := dashboard.New(dashboard.Config{Repo: repo, Catalog: n.catalog, Log: n.log})
	handler := api.New(api.Config{Conn: conn, Catalog: n.catalog, Visits: n.visits, Page: page, Engine: c.Engine(), Backup: w.backupTo, Log: n.log})
	var gateErr, httpErr error
	var running sync.WaitGroup
	running.Go(func() { gateErr = gate.Serve(ctx, n.gate); cancel() })
	running.Go(func() { httpErr = api.Serve(ctx, netutil.LimitListener(n.http, connections()), handler); cancel() })
	running.Wait()
	return errors.Join(gateErr, httpErr)
}

// announce writes the address file.
func (n *network) announce() error {
	data, err := json.Marshal(addresses{PID: os.Getpid(), Gate: n.gate.Addr().String(), HTTP: n.http.Addr().String()})
	if err != nil {
		return err
	}
	path := filepath.Join(n.cfg.Data, addressFile)
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("%w: %w", fault.ErrFolder, err)
	}
	return os.Rename(path+".new", path)
}
