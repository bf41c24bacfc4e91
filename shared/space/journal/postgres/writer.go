package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// waitForStandby is the function of the server that warns if its wait is canceled.
const waitForStandby = "SyncRepWaitForLSN"

// writer is the connection of an owner. One caller at a time uses it.
type writer struct {
	conn   *pgx.Conn
	warned *pgconn.Notice // by the server, during the statement under way
}

// newWriter connects.
func newWriter(ctx context.Context, c *pgx.ConnConfig) (*writer, error) {
	w := &writer{}
	c = c.Copy()
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { w.notice(n) }
	conn, err := pgx.ConnectConfig(ctx, c)
	w.conn = conn
	return w, err
}

// notice keeps a warning that may mean that a commit did not wait for the synchronous standby. Its text is in the
// language of the server, and a fork may have no name of a function, so all warnings count but those of other
// functions.
func (w *writer) notice(n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" && (n.Routine == waitForStandby || n.Routine == "") {
		w.warned = n
	}
}

// exec runs a statement in a transaction of its own, and returns how many rows it changed. The error is as of
// outcome.
func (w *writer) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	w.warned = nil
	tag, err := w.conn.Exec(ctx, sql, args...)
	return tag.RowsAffected(), outcome(err, w.warned)
}

// sever breaks the connection, also while it is used.
func (w *writer) sever() { _ = w.conn.PgConn().Conn().Close() }

// close ends the connection, and waits for what still cleans up after it.
func (w *writer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	_ = w.conn.Close(ctx)
	select {
	case <-w.conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
}
