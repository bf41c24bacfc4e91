package node

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/config"
)

// tlsOnly is a server that takes the role leasehold by TLS only.
type tlsOnly struct {
	*testing.T
	server             *pgserver.Server
	url                string // without parameters
	certificate, other string
}

func newTLSOnly(t *testing.T) tlsOnly {
	t.Helper()
	s := tlsOnly{T: t, server: pgserver.New(t)}
	s.certificate, s.other = s.server.RequireTLS(t, "leasehold", pgserver.Password)
	s.server.Exec(t, "CREATE DATABASE secured OWNER leasehold")
	s.url = "postgres://leasehold:" + pgserver.Password + "@" + s.server.Address() + "/secured"
	return s
}

// member returns the configuration of a coordinator with parameters of the URL.
func (s tlsOnly) member(parameters string) config.Config {
	s.Helper()
	return memberConfig(s.T, s.url+parameters)
}

func TestACoordinatorServesByTLSOfTheDatabase(t *testing.T) {
	t.Parallel()
	s := newTLSOnly(t)
	for _, parameters := range []string{"", "?sslmode=require", "?sslmode=verify-full&sslrootcert=" + s.certificate} {
		m := startMember(t, s.member(parameters))
		m.waitReady("ok\n")
		m.addOrigin("a")
		require.Equal(t, 1, m.origins())
		m.stop()
	}
}

func TestACoordinatorWithoutTLSIsToldThatTheDatabaseRequiresIt(t *testing.T) {
	t.Parallel()
	s := newTLSOnly(t)
	refused(t, s.member("?sslmode=disable"), 77, "no pg_hba.conf entry", "no encryption")
}

func TestAWrongPasswordOfTheDatabaseIsNamed(t *testing.T) {
	t.Parallel()
	s := newTLSOnly(t)
	s.url = strings.Replace(s.url, pgserver.Password, "another-"+pgserver.Password, 1)
	for _, parameters := range []string{"", "?sslmode=require", "?sslmode=verify-full&sslrootcert=" + s.certificate} {
		refused(t, s.member(parameters), 77, "the database refuses the role or its password", `password authentication failed for user "leasehold"`)
	}
}
