package pgrealm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"leasehold/models"
	"leasehold/shared/fault"
)

// connectTimeout is how long one address is tried, unless the URL has connect_timeout.
const connectTimeout = 5 * time.Second

// MaxName is how many bytes of a name the database shows beside a connection.
const MaxName = 40

// Dialer connects to servers. It closes an idle connection 25 seconds after its server is gone.
var Dialer = &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}}

// Schema returns the schema of a realm. It needs no quotes.
func Schema(realm string) string { return "leasehold_" + realm }

// session sets what each session needs. Parameters of the first message would do too, but poolers refuse most of them. A
// process that stops within a transaction must not keep the next owner waiting for its locks, so the server ends an
// idle transaction.
const session = `SET search_path = %s; SET client_encoding = 'UTF8'; SET synchronous_commit = on; SET statement_timeout = 0;
	SET lock_timeout = 0; SET idle_in_transaction_session_timeout = '5s'; SET default_transaction_isolation = 'read committed'`

// Config returns how to connect to a realm. The URL is postgres://USER:PASSWORD@HOST:PORT/DATABASE, with the parameters
// that libpq knows; of several hosts, the one that accepts writes is used. The database shows name beside the connections.
// Each session gets the further settings, such as "jit = off". The error is fault.ErrInvalid. It does not contain the URL,
// because a part of that may be a password that pgx does not recognize.
func Config(url, realm, name string, settings ...string) (*pgx.ConnConfig, error) {
	if !models.ValidRealm(realm) {
		return nil, fmt.Errorf("realm %q: want %s: %w", realm, models.RealmForm, fault.ErrInvalid)
	}
	c, err := pgx.ParseConfig(url)
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return nil, fmt.Errorf("a file that the URL of the database names cannot be read: %w: %w", file, fault.ErrInvalid)
	}
	if err != nil {
		return nil, fmt.Errorf("the URL of the database cannot be used: want postgres://USER:PASSWORD@HOST:PORT/DATABASE: %w", fault.ErrInvalid)
	}
	c.DialFunc = Dialer.DialContext
	c.RuntimeParams["application_name"] = strings.ToValidUTF8(fmt.Sprintf("leasehold %s %.*s", realm, MaxName, name), "")
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTimeout
	}
	if c.ValidateConnect == nil { // a server that was demoted would give old answers
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	statements := fmt.Sprintf(session, Schema(realm))
	for _, s := range settings {
		statements += "; SET " + s
	}
	c.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error { return conn.Exec(ctx, statements).Close() }
	return c, nil
}

// Pool returns a pool of at most that many connections, which connect when they are used.
func Pool(ctx context.Context, connect *pgx.ConnConfig, most int32) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, err
	}
	c.ConnConfig, c.MaxConns = connect.Copy(), most
	pool, err := pgxpool.NewWithConfig(ctx, c)
	return pool, Unavailable(err)
}
