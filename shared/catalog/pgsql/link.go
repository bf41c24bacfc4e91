package pgsql

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5/stdlib"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/pgrealm"
)

// link is a connection that the next call makes again when it was lost. It has one user at a time.
type link struct {
	db   *sql.DB
	conn *sql.Conn // nil: not connected
	c    *sqldb.Conn
}

// run runs do in a transaction that the statement begin begins. If the connection turns out to be lost before do, it
// connects again.
func (l *link) run(ctx context.Context, begin string, do func(*sqldb.Conn) error) error {
	connected := l.conn != nil
	began, err := l.try(ctx, begin, do)
	if err != nil && connected && !began && l.conn == nil && ctx.Err() == nil {
		_, err = l.try(ctx, begin, do)
	}
	return err
}

// try is run without another attempt. began reports whether do was called. Afterwards l.conn is nil if the connection
// is lost.
func (l *link) try(ctx context.Context, begin string, do func(*sqldb.Conn) error) (began bool, err error) {
	if err := l.connect(ctx); err != nil {
		return false, pgrealm.Unavailable(err)
	}
	c := l.c
	defer c.Serve(ctx)()
	defer func() {
		if !l.isUsable() {
			if err != nil && errors.Is(err, c.Failed()) {
				err = pgrealm.Unavailable(err)
			}
			l.drop()
		}
	}()
	err = c.InTransaction(begin, func(c *sqldb.Conn) error {
		began = true
		return do(c)
	})
	return began, err
}

func (l *link) connect(ctx context.Context) (err error) {
	if l.conn != nil {
		return nil
	}
	if l.conn, err = l.db.Conn(ctx); err == nil {
		l.c = sqldb.NewConn(l.conn, dialect)
	}
	return err
}

// isUsable reports whether the connection is open and in no transaction.
func (l *link) isUsable() (usable bool) {
	err := l.conn.Raw(func(c any) error {
		conn := c.(*stdlib.Conn).Conn()
		usable = !conn.IsClosed() && conn.PgConn().TxStatus() == 'I'
		return nil
	})
	return err == nil && usable
}

// drop closes the connection. An error of closing has no use, because the transaction has ended.
func (l *link) drop() {
	if l.c != nil {
		_ = l.c.Close()
	}
	l.conn, l.c = nil, nil
}
