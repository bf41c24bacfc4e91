package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/fault"
	"leasehold/shared/pgrealm"
)

// Findings is what Examine read of the database.
type Findings struct {
	Version            int    // of the server: 150018 is 15.18
	Encoding           string // of the database
	Fsync              string
	SynchronousCommit  string // of a session without a setting of its own
	SynchronousStandby string // synchronous_standby_names
	MaxConnections     int
	Isolation          string
	Standbys           int // that receive from this server
	// Warnings are what an operator should know, one sentence each.
	Warnings []string
}

// The demands of Examine.
const (
	minVersion     = 140000
	minConnections = 20
)

// Examine reads the settings of a database that matter, before a member uses it. It fails with fault.ErrInvalid and
// tells what to change if the server is older than 14, the database is not in UTF8, the role may not make the schema, a
// pooler shares one session between several clients, or standbys receive asynchronously and acceptLoss is not set. It fails
// with fault.ErrUnavailable if the database does not answer, or is read-only, as during a fail-over of the database.
func Examine(ctx context.Context, c Config, acceptLoss bool) (Findings, error) {
	c.complete()
	connect, err := c.parse()
	if err != nil {
		return Findings{}, err
	}
	connect.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // a pooler loses prepared statements
	j := &Journal{config: c, connect: connect}
	first, err := pgx.ConnectConfig(ctx, connect)
	if err != nil {
		return Findings{}, j.named(err)
	}
	defer first.Close(context.WithoutCancel(ctx))
	f, err := j.examine(ctx, first)
	if err == nil {
		err = refusal(f, acceptLoss)
	}
	if err == nil {
		err = j.checkSessions(ctx, first)
	}
	f.warn(acceptLoss)
	return f, j.named(err)
}

// examine reads the settings, and whether the role may make the schema.
func (j *Journal) examine(ctx context.Context, conn *pgx.Conn) (f Findings, err error) {
	var allowed bool
	var owner string // of the schema; empty: it is to be made
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, pg_encoding_to_char(encoding),
			current_setting('fsync'), (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'),
			current_setting('synchronous_standby_names'), current_setting('max_connections')::int,
			(SELECT reset_val FROM pg_settings WHERE name = 'default_transaction_isolation'),
			(SELECT count(*)::int FROM pg_stat_replication),
			to_regnamespace($1) IS NOT NULL AND has_schema_privilege(to_regnamespace($1), 'CREATE, USAGE') OR
			to_regnamespace($1) IS NULL AND has_database_privilege(current_database(), 'CREATE'),
			coalesce((SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE oid = to_regnamespace($1)), '')
		FROM pg_database WHERE datname = current_database()`, pgrealm.Schema(j.config.Realm)).
		Scan(&f.Version, &f.Encoding, &f.Fsync, &f.SynchronousCommit, &f.SynchronousStandby, &f.MaxConnections, &f.Isolation, &f.Standbys, &allowed, &owner)
	switch {
	case err != nil || allowed:
	case owner != "":
		err = fmt.Errorf("the role %q may not use the schema %s, which the role %q owns: connect as that role, or run GRANT %q TO %q: %w", j.connect.User, pgrealm.Schema(j.config.Realm), owner, owner, j.connect.User, fault.ErrInvalid)
	default:
		err = fmt.Errorf("the role %q may not make the schema %s: run GRANT CREATE ON DATABASE %q TO %q: %w", j.connect.User, pgrealm.Schema(j.config.Realm), j.connect.Database, j.connect.User, fault.ErrInvalid)
	}
	return f, err
}

// refusal returns why a database cannot be used; nil if it can.
func refusal(f Findings, acceptLoss bool) error {
	switch {
	case f.Version < minVersion:
		return fmt.Errorf("the server has version %d.%d: use 14 or newer: %w", f.Version/10000, f.Version%10000, fault.ErrInvalid)
	case f.Encoding != "UTF8":
		return fmt.Errorf("the database has the encoding %s: make one with createdb -E UTF8 -T template0: %w", f.Encoding, fault.ErrInvalid)
	case f.Standbys > 0 && f.SynchronousStandby == "" && !acceptLoss:
		return fmt.Errorf("the server has %d standbys and waits for none of them, so that a fail-over loses what was acknowledged: set synchronous_standby_names, or accept the loss with --accept-loss: %w", f.Standbys, fault.ErrInvalid)
	}
	return nil
}

// warn adds the warnings.
func (f *Findings) warn(acceptLoss bool) {
	add := func(when bool, text string) {
		if when {
			f.Warnings = append(f.Warnings, text)
		}
	}
	add(f.Fsync != "on", "fsync is "+f.Fsync+": a crash of the database's machine can destroy everything")
	add(f.Standbys == 0 && f.SynchronousStandby == "", "the database has no standby: if its disk is lost, everything is")
	add(f.Standbys > 0 && f.SynchronousStandby == "" && acceptLoss, "the standbys are asynchronous: a fail-over of the database loses what was acknowledged last")
	add(f.Standbys == 0 && f.SynchronousStandby != "", "no standby is connected: commits wait until "+f.SynchronousStandby+" is")
	add(f.SynchronousCommit == "off" || f.SynchronousCommit == "local", "synchronous_commit is "+f.SynchronousCommit+": this program sets it to on for its own sessions")
	add(f.MaxConnections < minConnections, fmt.Sprintf("max_connections is %d: %d or more is recommended", f.MaxConnections, minConnections))
	add(!strings.EqualFold(f.Isolation, "read committed"), "default_transaction_isolation is "+f.Isolation+": this program sets read committed for its own sessions")
}

// errPooled means that a session is not this client's own.
var errPooled = fmt.Errorf("a pooler in transaction mode is between this program and the database: connect to the database itself, or set pool_mode = session: %w", fault.ErrInvalid)

// sessionRounds is how often checkSessions compares two sessions; a pooler with several connections may use them
// in turns.
const sessionRounds = 5

// checkSessions refuses a pooler in transaction mode: there the backend of a session changes between two of its
// transactions, or a second session gets the same one, and a setting is lost.
func (j *Journal) checkSessions(ctx context.Context, first *pgx.Conn) error {
	second, err := pgx.ConnectConfig(ctx, j.connect)
	if err != nil {
		return err
	}
	defer second.Close(context.WithoutCancel(ctx))
	if _, err := first.Exec(ctx, "SET leasehold.session = 'first'"); err != nil {
		return err
	}
	mine, err := backend(ctx, first)
	if err != nil {
		return err
	}
	for range sessionRounds {
		err := pgx.BeginFunc(ctx, second, func(tx pgx.Tx) error { // it keeps the backend that it got
			var other int
			var set string
			err := tx.QueryRow(ctx, "SELECT pg_backend_pid(), coalesce(current_setting('leasehold.session', true), '')").Scan(&other, &set)
			if err == nil && (other == mine || set != "") {
				err = errPooled
			}
			if err != nil {
				return err
			}
			again, err := backend(ctx, first)
			if err == nil && again != mine {
				err = errPooled
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// backend returns the id of the backend that a transaction of conn has, and checks the setting of its session.
func backend(ctx context.Context, conn *pgx.Conn) (pid int, err error) {
	var set string
	err = conn.QueryRow(ctx, "SELECT pg_backend_pid(), coalesce(current_setting('leasehold.session', true), '')").Scan(&pid, &set)
	if err == nil && set != "first" {
		err = errPooled
	}
	return pid, err
}
