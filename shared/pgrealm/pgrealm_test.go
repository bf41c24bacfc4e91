package pgrealm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/fault"
	"leasehold/shared/pgrealm"
)

func TestTheKindOfAnErrorFollowsFromItsCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]error{
		"53100": fault.ErrOverloaded, "53300": fault.ErrUnavailable, "57P01": fault.ErrUnavailable, "57P03": fault.ErrUnavailable,
		"25006": fault.ErrUnavailable, "25P03": fault.ErrUnavailable, "08006": fault.ErrUnavailable, "58030": fault.ErrUnavailable,
		"40P01": fault.ErrUnavailable, "XX001": fault.ErrCorrupt, "XX002": fault.ErrCorrupt, "22021": fault.ErrInvalid,
		"42P01": fault.ErrCorrupt, "28P01": fault.ErrUnauthenticated, "42501": fault.ErrPermission, "3D000": fault.ErrInvalid,
	} {
		err := &pgconn.PgError{Code: code, SeverityUnlocalized: "ERROR", Message: "no"}
		for _, classified := range []error{pgrealm.Classify(fmt.Errorf("statement: %w", err)), pgrealm.Unavailable(err)} {
			require.ErrorIs(t, classified, want, code)
			require.ErrorIs(t, classified, err)
			require.Equal(t, code, pgrealm.Code(classified))
			require.Equal(t, classified, pgrealm.Classify(classified), "the kind is added once")
		}
	}
	for _, code := range []string{"23505", "", "5", "XX000"} {
		err := &pgconn.PgError{Code: code, SeverityUnlocalized: "ERROR"}
		require.Equal(t, error(err), pgrealm.Classify(err), code)
		require.Equal(t, error(err), pgrealm.Unavailable(err), code)
	}
	require.NoError(t, pgrealm.Classify(nil))
	require.NoError(t, pgrealm.Unavailable(nil))
}

func TestWhatBreaksTheConnectionMayPass(t *testing.T) {
	t.Parallel()
	for _, err := range []error{context.DeadlineExceeded, errors.New("no route"), &pgconn.PgError{Code: "XX000", SeverityUnlocalized: "FATAL"}} {
		require.ErrorIs(t, pgrealm.Unavailable(err), fault.ErrUnavailable)
		require.Equal(t, err, pgrealm.Classify(err))
	}
	require.Equal(t, fault.ErrOverloaded, pgrealm.Unavailable(fault.ErrOverloaded))
}

func TestOnlyAnErrorOfTheStatementChangedNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		severity, code string
		want           bool
	}{
		{"ERROR", "23505", true}, {"ERROR", "53100", true}, {"ERROR", "57014", true},
		{"ERROR", "40003", false}, {"ERROR", "08006", false}, {"ERROR", "57P01", false}, {"FATAL", "23505", false}, {"PANIC", "53100", false},
	} {
		require.Equal(t, c.want, pgrealm.ChangedNothing(&pgconn.PgError{SeverityUnlocalized: c.severity, Code: c.code}), "%s %s", c.severity, c.code)
	}
	require.False(t, pgrealm.ChangedNothing(errors.New("no answer")))
}

func TestAWrongConfigurationIsNamedWithoutTheURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, realm, want string }{
		{"postgres://u:" + pgserver.Password + "@host/db", "No", `realm "No": want 1 to 40`},
		{"postgres://u:" + pgserver.Password + "@host/db", "", `realm "": want 1 to 40`},
		{"postgres://u:" + pgserver.Password + "%zz@host/db", "default", "want postgres://USER:PASSWORD@HOST:PORT/DATABASE"},
		{"postgres://u:" + pgserver.Password + "@host:port/db", "default", "want postgres://USER:PASSWORD@HOST:PORT/DATABASE"},
		{"host=h password=" + pgserver.Password + " sslmode=maybe", "default", "want postgres://USER:PASSWORD@HOST:PORT/DATABASE"},
	} {
		_, err := pgrealm.Config(c.url, c.realm, "test")
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), pgserver.Password)
	}
}

// try connects to a realm and returns the error.
func try(t *testing.T, url string) error {
	t.Helper()
	c, err := pgrealm.Config(url, "default", "test", "jit = off")
	require.NoError(t, err)
	conn, err := pgx.ConnectConfig(t.Context(), c)
	if err == nil {
		require.NoError(t, conn.Close(t.Context()))
	}
	return pgrealm.Unavailable(err)
}

func TestWhyAConnectionFailedIsOneLineWithTheCause(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t)
	s.Exec(t, "CREATE ROLE closed LOGIN PASSWORD 'right'")
	s.Exec(t, "CREATE ROLE full LOGIN CONNECTION LIMIT 0")
	s.Allow(t, "hostssl all closed 127.0.0.1/32 scram-sha-256", "host all closed 127.0.0.1/32 scram-sha-256", "host all all 127.0.0.1/32 trust")
	at := s.Address() + "/postgres"
	for _, c := range []struct {
		url  string
		kind error
		want string
	}{
		{"postgres://closed:" + pgserver.Password + "@" + at, fault.ErrUnauthenticated, "refuses the role or its password"},
		{"postgres://closed:" + pgserver.Password + "@" + at + "?sslmode=disable", fault.ErrUnauthenticated, "refuses the role or its password"},
		{"postgres://closed:" + pgserver.Password + "@" + at + "?sslmode=require", fault.ErrInvalid, "server refused TLS connection"},
		{"postgres://postgres@" + s.Address() + "/missing", fault.ErrInvalid, "make it with createdb"},
		{"postgres://full@" + at, fault.ErrUnavailable, "no connection left"},
		{"postgres://postgres@127.0.0.1:1/postgres", fault.ErrUnavailable, "the database cannot be reached: unavailable: 127.0.0.1:1"},
	} {
		err := try(t, c.url)
		require.ErrorIs(t, err, c.kind, c.url)
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), "\n")
		require.NotContains(t, err.Error(), pgserver.Password)
		require.Equal(t, strings.Contains(c.url, "require"), strings.Contains(err.Error(), "TLS"), err.Error())
	}
	require.NoError(t, try(t, s.URL("postgres")))
}
