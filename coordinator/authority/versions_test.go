package authority

import (
	"crypto/tls"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/identity"
)

func TestFault45OldVersionsOfTLSAreRefused(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	server := a.ServerConfig(noNames)
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11, tls.VersionTLS12} {
		for _, name := range []string{identity.ServerName, "localhost"} {
			config := client(a, c, certified(t, a, identity.Worker))
			config.ServerName, config.MinVersion, config.MaxVersion = name, version, version
			m := connect(t, server, config)
			require.ErrorContains(t, m.clientErr, "protocol version", name)
			require.Error(t, m.serverErr, name)
		}
	}
}
