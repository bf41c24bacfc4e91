package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/net/netutil"

	"leasehold/coordinator"
	"leasehold/coordinator/api"
	"leasehold/coordinator/dashboard"
	"leasehold/coordinator/gate/native"
	"leasehold/coordinator/peer"
	"leasehold/shared/browse"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/supervisor"
)

// AddressFile is the file in a data folder that tells how to reach the coordinator that
// holds the folder. It exists while the coordinator listens, and is stale after a crash.
const AddressFile = "coordinator.json"

// Addresses is what AddressFile holds, as JSON.
type Addresses struct {
	PID  int    `json:"pid"`
	Gate string `json:"gate"`
	HTTP string `json:"http"`
}

// peerConnections is the maximum number of connections of one peer to the API.
const peerConnections = 500

// listeners are the open ports of a coordinator: the native gate, and the API with the
// dashboard.
type listeners struct {
	gate, http net.Listener
}

// listen opens both ports; port 0 is any free one.
func listen(d *DataDir) (*listeners, error) {
	gate, err := net.Listen("tcp", d.cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen: %w: %w", fault.ErrInvalid, err)
	}
	http, err := net.Listen("tcp", d.cfg.HTTP)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("http: %w: %w", fault.ErrInvalid, err), gate.Close())
	}
	return &listeners{gate, http}, nil
}

// close closes the ports that serve has not closed.
func (l *listeners) close() error {
	for _, port := range []net.Listener{l.gate, l.http} {
		if err := port.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
	}
	return nil
}

// serve connects clients to a coordinator that is ready, until ctx ends.
func (l *listeners) serve(ctx context.Context, h *hosted) error {
	conn, err := h.Engine().Connect(ctx, coordinator.SessionID("api"), 0)
	if err != nil {
		return err
	}
	if err := l.writeAddressFile(h.cfg.Data); err != nil {
		return err
	}
	defer os.Remove(filepath.Join(h.cfg.Data, AddressFile))
	gate := native.New(native.Config{
		Engine: h.Engine(), HTTP: l.http.Addr().String(),
		Heartbeat: h.cfg.Heartbeat, Lost: h.cfg.SessionLost, Connections: maxConnections(), LargeAnswers: []string{browse.Procedure},
		Exempt: h.cfg.QuotaExempt, MaxTTL: h.cfg.SessionMaxTTL, Memory: h.memory, Log: h.log,
	})
	catalog := h.DataDir.Catalog
	page := dashboard.New(dashboard.Config{Repo: space.Over(conn), Catalog: catalog, Log: h.log})
	handler := api.New(api.Config{
		Conn: conn, Catalog: catalog, Visits: h.DataDir.Visits, Page: page, Engine: h.Engine(), Memory: h.memory, Exempt: h.cfg.QuotaExempt, Log: h.log,
		Backup: func(ctx context.Context, dest string) error { return h.copyTo(ctx, h.journal, dest) },
	})
	return supervisor.All(ctx,
		func(ctx context.Context) error { return gate.Serve(ctx, l.gate) },
		func(ctx context.Context) error {
			ports := peer.Limit(l.http, peer.NewQuota("connections", peerConnections), h.cfg.QuotaExempt)
			return api.Serve(ctx, netutil.LimitListener(ports, maxConnections()), handler)
		})
}

// writeAddressFile replaces the address file in one step, so that no reader sees half of
// it.
func (l *listeners) writeAddressFile(dir string) error {
	data, err := json.Marshal(Addresses{PID: os.Getpid(), Gate: l.gate.Addr().String(), HTTP: l.http.Addr().String()})
	if err != nil {
		return err
	}
	path := filepath.Join(dir, AddressFile)
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("%w: %w", fault.ErrFolder, err)
	}
	return os.Rename(path+".new", path)
}
