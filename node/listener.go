package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"leasehold/coordinator"
	"leasehold/coordinator/actions"
	"leasehold/coordinator/api"
	"leasehold/coordinator/auth"
	"leasehold/coordinator/authority"
	"leasehold/coordinator/gate/mux"
	"leasehold/coordinator/gate/native"
	"leasehold/coordinator/hub"
	"leasehold/coordinator/page"
	"leasehold/coordinator/peer"
	"leasehold/coordinator/permission"
	"leasehold/coordinator/sound"
	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/process/datadir"
	"leasehold/shared/process/retry"
	"leasehold/shared/process/supervisor"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
)

// peerConnections is the maximum number of connections of one peer to the API.
const peerConnections = 2_200 // a claim and a heartbeat of each of its sessions, and others

// listeners are the open ports of a coordinator: the native gate, and the API with the
// dashboard.
type listeners struct {
	ports
	gate, http net.Listener
	gateHTTP   net.Listener // of the API at the gate's port, where processes join; nil: none do
	compat     net.Listener // nil: none
	foreign    foreignGates
	auth       *auth.Auth // nil: every client may do everything
}

// listen opens all ports; port 0 is any free one. With a, they speak TLS. If one fails, it closes the others and
// returns the error of ports.listen.
func listen(d *DataDir, a *auth.Auth) (*listeners, error) {
	var ca *authority.Authority
	if a != nil {
		ca = a.Authority
	}
	l, err := listenWith(d.cfg, ca, d.log)
	if err != nil {
		return nil, err
	}
	l.auth = a
	if d.cfg.CompatListen != "" {
		l.compat, err = l.listen("compat-listen", d.cfg.CompatListen, mux.HTTP)
	}
	if err == nil {
		l.foreign, err = l.listenForeign(d.cfg.Gates)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// listenWith opens the ports of the gate and the API. With a CA, they speak TLS.
func listenWith(cfg config.Config, ca *authority.Authority, log *slog.Logger) (_ *listeners, err error) {
	l := &listeners{ports: newPorts(cfg)}
	if ca != nil {
		if l.tls, err = serverTLS(cfg, ca, log); err != nil {
			return nil, err
		}
		l.uses[cfg.Listen]++ // the API is at the gate's port too
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	if l.gate, err = l.listen("listen", cfg.Listen, mux.Native); err != nil {
		return nil, err
	}
	if l.http, err = l.listen("http", cfg.HTTP, mux.HTTP); err != nil {
		return nil, err
	}
	if port := l.portOf(l.gate); ca != nil && !port.Speaks(mux.HTTP) {
		l.gateHTTP = port.Listener(mux.HTTP)
	}
	return l, nil
}

// close closes the ports that are still open, and returns the first error. A port that serve has
// closed is not an error.
func (l *listeners) close() error {
	for _, port := range l.open {
		if err := port.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
	}
	return nil
}

// serve serves the gates, the API and the dashboard until ctx ends or a server fails. The coordinator is ready.
// The address file exists meanwhile.
func (l *listeners) serve(ctx context.Context, h *hosted) error {
	conn, err := h.Engine().Connect(ctx, coordinator.SessionID("api"), 0)
	if err != nil {
		return err
	}
	addresses := l.addresses()
	if l.auth != nil {
		addresses.TokenFile = h.tokenFile()
	}
	if err := datadir.WriteAddresses(h.cfg.Data, addresses); err != nil {
		return err
	}
	defer os.Remove(filepath.Join(h.cfg.Data, datadir.AddressFile))
	l.followIdentity(h, addresses)
	warnOfFewFiles(h.log)
	spaces := peer.NewSpaces()
	measured, calls := durations(h)
	gate := native.New(native.Config{
		Engine: h.Engine(), Identify: l.identify(), ByToken: l.byToken(), Check: l.check(), Spaces: spaces, Calls: calls, HTTP: l.http.Addr().String(),
		Heartbeat: h.cfg.Heartbeat, Lost: h.cfg.SessionLost, Connections: maxConnections(), LargeAnswers: []string{browse.Procedure},
		Exempt: h.cfg.QuotaExempt, MaxTTL: h.cfg.SessionMaxTTL, Memory: h.memory, Log: h.log, Ping: h.ping(),
	})
	catalog := h.DataDir.Catalog
	var handler http.Handler
	answer := func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }
	dashboard, err := h.newPage(space.Over(conn), answer)
	if err != nil {
		return err
	}
	settings := api.Config{
		Conn: conn, Catalog: catalog, Health: h.database.Health, Index: h.index, Visits: h.DataDir.Visits, Page: dashboard, Prefix: h.cfg.Prefix, Hosts: h.cfg.HTTPNames, Engine: h.Engine(), Spaces: spaces, Durations: measured, Actions: actions.NewSource(space.Over(conn), h.Tracker()), Connections: maxConnections(), Memory: h.memory, Exempt: h.cfg.QuotaExempt, MaxTTL: h.cfg.SessionMaxTTL, Log: h.log,
		Backup:  func(ctx context.Context, dest string) error { return h.copyTo(ctx, h.spaces, dest) },
		Acks:    retry.NewLater("api: what clients received, or did not, cannot be acknowledged yet; repeating it", h.log),
		Members: h.members, FinishUpgrade: h.finish, Realm: h.realm, Database: h.examination, Attention: h.Watcher(), History: h.database.History, Spans: h.spans,
	}
	if l.auth != nil {
		l.auth.Connected(gate.Identities)
		settings.Auth, settings.SignIn, settings.SessionsOf, settings.JoinAddresses = l.auth, dashboard.SignIn, gate.SessionsOf, func(ctx context.Context) ([]string, error) { return h.joinAddresses(ctx, l.gate.Addr()) }
	}
	var hubs []supervisor.Task
	if h.cfg.PublicURL != "" {
		subscriber := &hub.Subscriber{Store: h.DataDir.Visits, Poster: h.fetcher, Base: h.cfg.PublicURL, Log: h.log} // newPage has opened the fetcher
		settings.Hub = subscriber
		hubs = append(hubs, func(ctx context.Context) error { subscriber.Run(ctx); return nil })
	}
	foreign, err := l.foreign.tasks(ctx, h)
	if err != nil {
		return err
	}
	handler = api.New(settings)
	tasks := append(slices.Concat(foreign, hubs, l.ports.tasks(h.log)),
		func(ctx context.Context) error { return gate.Serve(ctx, l.gate) },
		l.serveHTTP(l.http, handler, h))
	if l.gateHTTP != nil {
		tasks = append(tasks, l.serveHTTP(l.gateHTTP, handler, h))
	}
	if l.compat != nil {
		tasks = append(tasks, l.serveHTTP(l.compat, api.NewCompat(settings), h))
	}
	return l.runLast(ctx, settings.Acks, func(ctx context.Context) error { return supervisor.All(ctx, tasks...) })
}

// runLast runs serve until it ends or ctx does. The acknowledgements of the API and the audit end last, because requests
// in progress finish while the servers stop.
func (l *listeners) runLast(ctx context.Context, acks *retry.Later, serve supervisor.Task) error {
	return supervisor.Host(ctx, func(ctx context.Context, ready func()) error {
		ready()
		return supervisor.All(ctx, acks.Run, func(ctx context.Context) error {
			if l.auth != nil {
				l.auth.Run(ctx)
			}
			<-ctx.Done()
			return nil
		})
	}, serve)
}

// ping returns the silence after which both sides of a connection to the gate send a ping; 0: the gate's default. A member
// of a realm may be frozen while another one takes over, and then its clients have to notice as soon as that one does.
func (d *DataDir) ping() time.Duration {
	if d.claimed == nil {
		return 0
	}
	return d.cfg.OwnerLost / 2 // a client waits twice as long
}

// identify returns what tells the native gate the identity of a connection; nil: it authenticates no client.
func (l *listeners) identify() func(net.Conn) (access.Identity, error) {
	if l.auth == nil {
		return nil
	}
	return l.auth.OfConn
}

// byToken returns what identifies the clients of the native gate that send a token; nil: nothing.
func (l *listeners) byToken() func(net.Conn, string) (access.Identity, error) {
	if l.auth == nil {
		return nil
	}
	return func(c net.Conn, token string) (access.Identity, error) {
		return l.auth.ByToken(c.RemoteAddr().String(), token)
	}
}

// check returns what refuses requests at the native gate that need other roles; nil: nothing.
func (l *listeners) check() func(access.Identity, string, space.Request) error {
	if l.auth == nil {
		return nil
	}
	return permission.Check
}

// newPage opens the fetcher, with which the page plays recordings, and returns the page.
func (h *hosted) newPage(repo space.Repository, answer http.HandlerFunc) (*page.Page, error) {
	if err := h.openFetcher(); err != nil {
		return nil, err
	}
	return page.New(page.Config{
		API: answer, Repo: repo, Code: h.index, Sound: sound.New(h.fetcher, h.DataDir.Catalog), Lost: h.Watcher().Lost,
		Actions: h.cfg.HTTPActions, Prefix: h.cfg.Prefix, Log: h.log,
	}), nil
}

// serveHTTP serves a handler on a port, with the quotas of peers.
func (l *listeners) serveHTTP(port net.Listener, handler http.Handler, h *hosted) supervisor.Task {
	var of func(context.Context, net.Conn) context.Context
	if l.auth != nil {
		of = l.auth.ConnContext
	}
	return func(ctx context.Context) error {
		ports := peer.Limit(port, peer.NewQuota("connections", peerConnections), h.cfg.QuotaExempt)
		return api.ServeUpTo(ctx, ports, handler, maxConnections(), of)
	}
}

// addresses returns the actual addresses of the open ports, also where the setting has port 0.
func (l *listeners) addresses() datadir.Addresses {
	all := datadir.Addresses{PID: os.Getpid(), Gate: l.gate.Addr().String(), HTTP: l.http.Addr().String(), Gates: l.foreign.addresses()}
	if l.compat != nil {
		all.Compat = l.compat.Addr().String()
	}
	if l.auth != nil {
		all.CA = l.auth.Authority.Fingerprint().String()
	}
	return all
}

// examination returns the result of the latest nightly check of the database.
func (h *hosted) examination() types.DatabaseCheck {
	e := h.database.LastExamination()
	c := types.DatabaseCheck{At: e.At.UTC(), Took: models.SecondsOf(e.Took), Damage: append([]string{}, e.Damage...)}
	if e.At.IsZero() {
		c.At = e.At
	}
	if e.Err != nil {
		c.Error = e.Err.Error()
	}
	return c
}
