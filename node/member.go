package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"leasehold/coordinator/authority"
	"leasehold/coordinator/database"
	"leasehold/coordinator/realm"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/build"
	"leasehold/shared/process/datadir"
	"leasehold/shared/process/retry"
	"leasehold/shared/process/supervisor"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/postgres"
)

// member is a coordinator that shares a realm in a database with others. One of them serves at a time, and the others
// stand by. Its data folder has only what can be made again.
type member struct {
	cfg       config.Config // with the actual ports, once they were open
	log       *slog.Logger
	forwarder *status.Forwarder
	name      string
	url       string // of the database, with its password
	realm     *realm.Realm
	sealing   authority.SealingKey
	ca        *authority.Authority // nil: the coordinator does not authenticate its clients
	sealed    realm.Files          // the files of ca as the realm has them
	listening func(datadir.Addresses)
	joined    *realm.Joined // nil until introduce
	opened    supervisor.Stack

	mu    sync.Mutex   // guards owner
	owner types.Member // the zero Member: unknown
}

// runMember joins the realm of cfg, and serves it or stands by until ctx ends. It calls listening with the addresses of
// its ports when they are open for the first time.
func runMember(ctx context.Context, cfg config.Config, log *slog.Logger, listening func(datadir.Addresses)) (err error) {
	m := &member{cfg: cfg, forwarder: status.NewForwarder(), name: nameOf(config.Coordinator, cfg.Data), listening: listening}
	m.log = m.forwarder.Logger(log)
	defer func() { err = errors.Join(err, m.opened.Close()) }()
	if err := m.open(ctx); err != nil {
		return unlessEnded(ctx, err)
	}
	longest := termPause
	for {
		began := time.Now()
		err := m.term(ctx)
		if ctx.Err() != nil || !m.standsBy(err) {
			return err
		}
		if errors.Is(err, errOtherIdentity) {
			if err := m.refreshIdentity(ctx); err != nil && !m.standsBy(err) {
				return unlessEnded(ctx, err)
			}
			continue
		}
		if lacks := errors.Is(err, fault.ErrUnavailable) && !errors.Is(err, journal.ErrDeposed); !lacks || time.Since(began) > maxTermPause {
			longest = termPause
		} else {
			longest = min(2*longest, maxTermPause)
		}
		select {
		case <-time.After(longest/2 + retry.Jitter(longest/2)):
		case <-ctx.Done():
			return nil
		}
	}
}

// Pauses between two terms are random, so that members which fail at the same time do not go on failing together. The
// longest one doubles while short terms end because the database cannot be used: it may have connections for the claim, and
// too few for the rest.
const (
	termPause    = 100 * time.Millisecond
	maxTermPause = 2 * time.Second
)

// standsBy reports whether the member stands by after a term that ended with err, and logs why.
func (m *member) standsBy(err error) bool {
	switch {
	case errors.Is(err, errFaster):
		m.log.Info("another member took the realm over; this one stands by", "realm", m.cfg.Realm)
	case errors.Is(err, errOtherIdentity):
		m.log.Info("the realm has another CA; this member opens its ports again with it", "realm", m.cfg.Realm)
	case errors.Is(err, journal.ErrDeposed):
		m.log.Warn("another member owns the realm, or may own it; this one stands by", "realm", m.cfg.Realm, "reason", err)
	case errors.Is(err, fault.ErrUnavailable):
		m.log.Warn("the database cannot be used; this member stands by", "realm", m.cfg.Realm, "reason", err)
	case errors.Is(err, fault.ErrOverloaded):
		m.log.Warn("the disk of the database is full; this member stands by", "realm", m.cfg.Realm, "reason", err)
	default:
		return false
	}
	return true
}

// acceptDatabase is the value of accept-missing that has a member use a realm that was restored from a dump.
const acceptDatabase = "database"

// errFaster is the error of a term that has not begun, because another member has claimed the realm.
var errFaster = errors.New("another member was faster")

// open locks the data folder and opens the realm, for which it waits, and gets the identity from it.
func (m *member) open(ctx context.Context) error {
	release, err := lockFolder(ctx, m.cfg, m.log, lockTimeout)
	if err != nil {
		return err
	}
	m.opened.Push(release)
	if err := requireNoJournal(m.cfg); err != nil {
		return err
	}
	if m.url, err = m.cfg.DatabaseURL(); err != nil {
		return config.Invalid{{Key: "database", Text: err.Error()}}
	}
	if err := m.examine(ctx); err != nil {
		return err
	}
	err = m.await(ctx, func() (err error) {
		m.realm, err = realm.Open(ctx, m.url, m.cfg.Realm)
		return err
	})
	if err != nil {
		return err
	}
	m.opened.Push(func() error { m.realm.Close(); return nil })
	err = m.await(ctx, func() error { return m.realm.CheckPlace(ctx, m.cfg.AcceptMissing == acceptDatabase) })
	if err != nil {
		return err
	}
	return m.openIdentity(ctx)
}

// examine checks that the database is one that can be used, and logs what its operator should know. It waits while the
// database is away, or read-only because it fails over itself.
func (m *member) examine(ctx context.Context) error {
	var found postgres.Findings
	err := m.await(ctx, func() (err error) {
		found, err = postgres.Examine(ctx, m.journalConfig(), m.cfg.AcceptLoss)
		return err
	})
	for _, warning := range found.Warnings {
		m.log.Warn("database: " + warning)
	}
	return err
}

func (m *member) journalConfig() postgres.Config {
	return postgres.Config{URL: m.url, Realm: m.cfg.Realm, Owner: m.name, Log: m.log}
}

// introduce keeps the addresses of the ports that were opened first, calls listening with them, and puts this member
// into the realm's list until it is closed. Later calls do nothing.
func (m *member) introduce(ctx context.Context, l *listeners, at datadir.Addresses) error {
	if m.joined != nil {
		return nil
	}
	var err error
	if m.joined, err = m.realm.Join(ctx, m.describe(l)); err != nil {
		return err
	}
	m.cfg.Listen, m.cfg.HTTP = at.Gate, at.HTTP
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.joined.Run(running, m.log)
	}()
	m.opened.Push(func() error { stop(); <-ended; return nil })
	m.listening(at)
	return nil
}

// await repeats a call to the database while it is away, or read-only because it fails over itself.
func (m *member) await(ctx context.Context, call func() error) error {
	loop := retry.Loop{Message: "the database cannot be used; waiting for it", Log: m.log}
	return loop.Do(ctx, call)
}

// term is the time from standing by until the realm is lost again. It returns journal.ErrDeposed then, errFaster if
// another member has claimed the realm, and nil when ctx ends.
func (m *member) term(ctx context.Context) error {
	j, err := m.standBy(ctx)
	if err != nil || j == nil {
		return unlessEnded(ctx, err)
	}
	if ctx.Err() != nil {
		return j.Close()
	}
	epoch, err := j.Claim(ctx)
	if errors.Is(err, fault.ErrConflict) {
		err = errFaster
	}
	if err != nil { // after fault.ErrUnavailable the claim may have succeeded; another term finds out
		return errors.Join(unlessEnded(ctx, err), j.Close())
	}
	m.log.Warn("this member serves the realm", "realm", m.cfg.Realm, "epoch", epoch)
	m.tellFormat(ctx, j)
	return m.serve(ctx, claimed{j, epoch})
}

// tellFormat logs that an upgrade is to be finished, if the realm has an older format than this program could write.
func (m *member) tellFormat(ctx context.Context, j *postgres.Journal) {
	if format, err := j.Format(ctx); err == nil && format < postgres.NewestFormat {
		m.log.Warn("the realm has the format of the version before; once all members are replaced, run leasehold upgrade finish",
			"realm", m.cfg.Realm, "format", format, "newest", postgres.NewestFormat)
	}
}

// claimed is a journal that this process has claimed: before it opened the database, because it reads that under the
// claim, and so before the engine.
type claimed struct {
	*postgres.Journal
	epoch journal.Epoch
}

// Claim implements journal.Owned. It returns the epoch of the claim that was made before.
func (c claimed) Claim(context.Context) (journal.Epoch, error) { return c.epoch, nil }

// serve hosts the realm until ctx ends or the realm is lost. It closes the journal.
func (m *member) serve(ctx context.Context, j claimed) (err error) {
	cfg := m.cfg
	if cfg.Trace != "" { // each epoch has a log of its own, because others acted in between
		cfg.Trace = fmt.Sprintf("%s.epoch%d", cfg.Trace, j.epoch)
	}
	d := &DataDir{
		cfg: cfg, log: m.log, forwarder: m.forwarder, claimed: &j, depot: m.realm.Depot(uint64(j.epoch)),
		keepIdentity: func(ctx context.Context) error { return m.keepIdentity(ctx, uint64(j.epoch)) },
		realm: func() types.Realm {
			commits, bytes := j.Unfolded()
			return types.Realm{Name: m.cfg.Realm, Owner: m.name, Epoch: uint64(j.epoch), Commits: commits, Bytes: bytes}
		},
		members: func(ctx context.Context) ([]types.Member, error) { return m.members(ctx, j.Journal) },
		finish:  func(ctx context.Context) (int, error) { return m.realm.FinishUpgrade(ctx, uint64(j.epoch)) },
	}
	d.opened.Push(j.Close) // host closes it too, unless it was not reached
	defer func() { err = errors.Join(err, d.opened.Close()) }()
	plan, err := visitPlan(m.cfg)
	if err == nil {
		err = m.refreshIdentity(ctx)
	}
	if err == nil {
		d.database, err = database.OpenRealm(ctx, m.url, m.cfg.Realm, uint64(j.epoch), plan)
	}
	if err != nil {
		return unlessEnded(ctx, err)
	}
	d.opened.Push(d.database.Close)
	d.Catalog, d.Visits = d.database.Catalog, d.database.Visits
	d.watchOwner = func(ctx context.Context) error {
		select {
		case <-j.Lost():
			return j.Confirm(ctx)
		case <-ctx.Done():
			return nil
		}
	}
	err = serveData(ctx, d, func(datadir.Addresses) {}) // the addresses are known already
	if errors.Is(err, context.Canceled) {
		return unlessEnded(ctx, err) // it was stopped while it started
	}
	return err
}

// members returns the coordinators of the realm that live, by name.
func (m *member) members(ctx context.Context, j *postgres.Journal) (all []types.Member, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTime) // a network may have lost the connection without telling
	defer cancel()
	present, err := m.realm.Members(ctx)
	if err != nil {
		return nil, err
	}
	o, err := j.Owner(ctx)
	if err != nil && !errors.Is(err, fault.ErrNotFound) {
		return nil, err
	}
	for _, p := range present {
		x := types.Member{Name: p.Name, Role: standbyRole, Gates: p.Gates, API: p.API, Version: p.Version, Since: p.Since.UTC()}
		if p.Name == o.Name && !o.Released {
			x.Role, x.Epoch = ownerRole, uint64(o.Epoch)
		}
		all = append(all, x)
	}
	return all, nil
}

// readTime is how long a member reads from the database about the others.
const readTime = 5 * time.Second

// The roles of members.
const (
	ownerRole   = "owner"
	standbyRole = "standby"
)

// describe returns the member as the others see it, with the addresses of its ports.
func (m *member) describe(l *listeners) realm.Member {
	scheme := "http://"
	if m.ca != nil {
		scheme = "https://"
	}
	self := realm.Member{Name: m.name, Gates: joinAddresses(l.gate.Addr()), Version: build.Version(), Format: postgres.NewestFormat}
	if apis := joinAddresses(l.http.Addr()); len(apis) > 0 {
		self.API = scheme + apis[0]
	}
	return self
}
