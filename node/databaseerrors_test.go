package node

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
)

// A server without TLS is tried with it first, which is the default. That must not hide the reason.
func TestAWrongPasswordIsNamedByAServerWithoutTLS(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t)
	s.Password(t, "leasehold", "another-"+pgserver.Password)
	s.Exec(t, "CREATE DATABASE d OWNER leasehold")
	cfg := memberConfig(t, "postgres://leasehold:"+pgserver.Password+"@"+s.Address()+"/d")
	refused(t, cfg, 77, `password authentication failed for user "leasehold"`)
	err := RunCoordinator(t.Context(), cfg, discard, nil)
	require.NotContains(t, err.Error(), "tls")
	require.NotContains(t, err.Error(), "\n")
}

func TestAServerThatRequiresTLSTellsWhichParameterToSet(t *testing.T) {
	t.Parallel()
	refused(t, newTLSOnly(t).member("?sslmode=disable"), 77, "sslmode=require")
}

// Waiting does not help.
func TestAServerWithoutTLSIsRefusedIfTLSIsWanted(t *testing.T) {
	t.Parallel()
	ends(t, pgserver.New(t).URL("postgres")+"&sslmode=require", "sslmode", "server refused TLS connection")
}

func TestACertificateOfAnotherCAIsRefused(t *testing.T) {
	t.Parallel()
	s := newTLSOnly(t)
	ends(t, s.url+"?sslmode=verify-full&sslrootcert="+s.other, "certificate", "sslrootcert")
	ends(t, s.url+"?sslmode=verify-full", "certificate", "sslrootcert")
}

func TestAMissingFileOfAURLIsNamed(t *testing.T) {
	t.Parallel()
	ends(t, "postgres://leasehold:"+pgserver.Password+"@127.0.0.1:1/d?sslmode=verify-full&sslrootcert=/missing.crt", "/missing.crt")
}

// ends starts a coordinator, which must not wait for its database but end with the texts.
func ends(t *testing.T, url string, texts ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := RunCoordinator(ctx, memberConfig(t, url), discard, nil)
	require.Error(t, err)
	require.NoError(t, ctx.Err(), "it waits")
	for _, text := range texts {
		require.ErrorContains(t, err, text)
	}
	require.NotContains(t, err.Error(), pgserver.Password)
}

// A limit that leaves no connection for the catalog.
func TestTooFewConnectionsForTheCatalogNameTheSetting(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t)
	url := s.Role(t, "leasehold")
	s.Exec(t, "ALTER ROLE leasehold CONNECTION LIMIT 5")
	log, ready := begin(t, url)
	awaitLine(t, log, "level=WARN", "catalog of the realm", "max_connections")
	s.Exec(t, "ALTER ROLE leasehold CONNECTION LIMIT -1")
	ready().waitReady("ok\n")
}
