package pgsql

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

func TestACallWorksAgainAfterTheServerWasRestarted(t *testing.T) {
	t.Parallel()
	server := pgserver.New(t)
	d := opened(t, recipes(server.URL("postgres"), makeRecipes))
	for name, end := range map[string]func(testing.TB){"stopped": server.Stop, "killed": server.Kill} {
		require.NoError(t, d.Write(t.Context(), "add", add("soup")))
		before := number(t, d, count)
		committed, ended := true, false
		err := d.Write(t.Context(), "add", func(c *sqldb.Conn) error {
			c.OnEnd(func(is bool) { committed, ended = is, true })
			require.NoError(t, add("bread")(c))
			end(t)
			return add("salt")(c)
		})
		require.ErrorIs(t, err, fault.ErrUnavailable, name)
		require.True(t, ended)
		require.False(t, committed)
		require.ErrorIs(t, d.Write(t.Context(), "add", add("soup")), fault.ErrUnavailable, "the server is down")
		require.ErrorIs(t, d.Read(t.Context(), "read", add("soup")), fault.ErrUnavailable)
		_, err = d.Examine(t.Context())
		require.ErrorIs(t, err, fault.ErrUnavailable)
		unwell := d.Health()
		require.ErrorIs(t, unwell, fault.ErrUnavailable)
		require.ErrorContains(t, unwell, "the cook book cannot be written since 20")
		require.NotContains(t, unwell.Error(), pgserver.Password)
		server.Start(t)
		require.NoError(t, d.Health())
		require.Equal(t, before, number(t, d, count))
	}
}

// A connection that was lost between two calls is made again, because nothing was done on it.
func TestALostConnectionIsMadeAgain(t *testing.T) {
	t.Parallel()
	server := pgserver.New(t)
	d := opened(t, recipes(server.URL("postgres"), makeRecipes))
	for range 3 {
		require.NoError(t, d.Write(t.Context(), "add", add("soup")))
		for range maxReaders {
			number(t, d, count)
		}
		require.Equal(t, 1+maxReaders, server.Terminate(t, "leasehold kitchen_1%"))
		require.NoError(t, d.Write(t.Context(), "add", add("soup")))
		for range maxReaders {
			number(t, d, count)
		}
	}
	for n := 1; n <= 6; n++ { // the connection is lost before one of the statements; the last one is COMMIT
		before := number(t, d, count)
		_ = d.Write(t.Context(), "add", func(c *sqldb.Conn) error {
			for i := range 5 {
				if i == n-1 {
					server.Terminate(t, "leasehold kitchen_1%")
				}
				if err := add("salt")(c); err != nil {
					return err
				}
			}
			if n == 6 {
				server.Terminate(t, "leasehold kitchen_1%")
			}
			return nil
		})
		require.Equal(t, before, number(t, d, count), "statement %d", n)
	}
}

func TestAReadOnlyDatabaseIsUnwellAndRead(t *testing.T) {
	t.Parallel()
	address := pgserver.Database(t)
	d := opened(t, recipes(address, makeRecipes))
	require.NoError(t, d.Write(t.Context(), "add", add("soup")))
	for range maxReaders {
		number(t, d, count)
	}
	setReadOnly := func(value string) {
		require.NoError(t, d.Write(t.Context(), "set", func(c *sqldb.Conn) error {
			if err := c.Script("SET LOCAL transaction_read_only = off"); err != nil {
				return err
			}
			var name string
			if _, err := c.One("SELECT current_database()", nil, sqldb.Into(&name)); err != nil {
				return err
			}
			return c.Script(fmt.Sprintf("ALTER DATABASE %s SET default_transaction_read_only = %s", name, value))
		}))
		reconnect(d)
	}
	setReadOnly("on")
	require.ErrorIs(t, d.Write(t.Context(), "add", add("bread")), fault.ErrUnavailable)
	require.ErrorIs(t, d.Health(), fault.ErrUnavailable)
	require.EqualValues(t, 1, number(t, d, count))
}

// reconnect makes the next call of the writer connect again.
func reconnect(d *Database) {
	<-d.turn
	d.writer.drop()
	d.turn <- struct{}{}
}

func TestAServerThatDoesNotAnswerEndsACallAndClose(t *testing.T) {
	t.Parallel()
	server := pgserver.New(t)
	d, err := Open(t.Context(), recipes(server.URL("postgres"), makeRecipes))
	require.NoError(t, err)
	thaw := server.Freeze(t)
	done := make(chan error, 1)
	began := time.Now()
	<-d.turn
	err = d.useWriter(t.Context(), "add", 100*time.Millisecond, add("soup"))
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.Less(t, time.Since(began), 10*time.Second)
	go func() { done <- d.Read(context.Background(), "read", add("soup")) }()
	require.Eventually(t, func() bool { return len(d.readers) < maxReaders }, 10*time.Second, time.Millisecond)
	require.NoError(t, d.Close())
	require.ErrorIs(t, <-done, fault.ErrUnavailable)
	require.Less(t, time.Since(began), 30*time.Second)
	thaw()
}

// A process that stops within a transaction must not keep the rows that it has locked.
func TestAnIdleTransactionEndsAtTheServer(t *testing.T) {
	t.Parallel()
	o := recipes(pgserver.Database(t), makeRecipes)
	d, other := opened(t, o), opened(t, o)
	require.NoError(t, d.Write(t.Context(), "add", add("soup")))
	err := d.Write(t.Context(), "idle", func(c *sqldb.Conn) error {
		require.NoError(t, c.Exec("UPDATE recipe SET name = 'bread'"))
		require.NoError(t, other.Write(t.Context(), "change", func(o *sqldb.Conn) error { return o.Exec("UPDATE recipe SET name = 'salt'") }))
		return add("pepper")(c)
	})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.EqualValues(t, 1, number(t, d, count+" WHERE name = 'salt'"))
}

func TestCallsThatATestFailsCanBeRepeated(t *testing.T) {
	t.Parallel()
	d := book(t)
	for n := 1; ; n++ {
		ctx, failed := sqldb.FailAt(t.Context(), n)
		err := d.Write(ctx, "add", add("soup"))
		if !failed() {
			require.NoError(t, err)
			break
		}
		require.ErrorIs(t, err, sqldb.ErrFailed)
		require.False(t, errors.Is(err, fault.ErrUnavailable))
		require.Less(t, n, 10)
	}
	require.EqualValues(t, 1, number(t, d, count))
}
