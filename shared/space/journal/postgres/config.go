package postgres

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/pgrealm"
)

// Config describes a journal in a database.
type Config struct {
	// URL is that of the database: postgres://USER:PASSWORD@HOST:PORT/DATABASE. It may name several hosts; the one that
	// accepts writes is used.
	URL string
	// Realm names the journal in the database: models.RealmForm. "" is "default".
	Realm string
	// Owner names this process to people: its host, for example. At most pgrealm.MaxName bytes count.
	Owner string
	// Addresses is written beside the name of the owner, for clients that ask a standby.
	Addresses string
	// FoldEvery is how often the owner folds the log, and about as long must a tuple live to become a row; 0: 5 seconds.
	// A long log is folded earlier.
	FoldEvery time.Duration
	// Log gets what happens in the background; nil: slog.Default().
	Log *slog.Logger
	// Dial connects to the server; nil: with pgrealm.Dialer. Tests break connections with it.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// complete fills in the defaults.
func (c *Config) complete() {
	if c.Realm == "" {
		c.Realm = "default"
	}
	if c.FoldEvery == 0 {
		c.FoldEvery = foldEvery
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
}

// parse returns how to connect. Plans without regard to the arguments suit all statements, and a commit of one record is
// a sixth faster with them.
func (c *Config) parse() (*pgx.ConnConfig, error) {
	parsed, err := pgrealm.Config(c.URL, c.Realm, c.Owner, "plan_cache_mode = force_generic_plan", "jit = off")
	if err == nil && c.Dial != nil {
		parsed.DialFunc = c.Dial
	}
	return parsed, err
}
