package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/config"
)

func TestAddressesBeyondThisMachineAreOpenUnlessClientsAreAuthenticated(t *testing.T) {
	t.Parallel()
	const here, beyond = "127.0.0.1:7411", "10.0.0.1:7411"
	for _, c := range []struct {
		of   config.Config
		want string
	}{
		{config.Config{Listen: here, HTTP: here, Insecure: true}, ""},
		{config.Config{Listen: beyond, HTTP: here}, ""},
		{config.Config{Listen: beyond, HTTP: beyond, CompatListen: "0.0.0.0:7413", Insecure: true}, beyond + ", 0.0.0.0:7413"},
		{config.Config{Listen: here, HTTP: here, Gates: []config.Gate{{Address: beyond}}, Insecure: true}, beyond},
		{config.Config{Listen: here, HTTP: here, Gates: []config.Gate{{Address: beyond, Role: "reader"}}}, ""},
	} {
		require.Equal(t, c.want, openAddresses(c.of), "%+v", c.of)
	}
}
