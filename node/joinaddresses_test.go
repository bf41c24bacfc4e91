package node

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJoinLinesHaveAddressesThatOtherMachinesReach(t *testing.T) {
	t.Parallel()
	for listens, want := range map[string][]string{"127.0.0.1:7411": {"127.0.0.1:7411"}, "10.1.2.3:7411": {"10.1.2.3:7411"}, "[fd00::1]:7411": {"[fd00::1]:7411"}} {
		require.Equal(t, want, joinAddresses(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(listens))))
	}
	for _, listens := range []string{"0.0.0.0:7411", "[::]:7411"} {
		require.NotEmpty(t, joinAddresses(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(listens))))
	}
	// At 127.0.0.1 of another machine there is another coordinator.
	require.Equal(t, []string{"box", "10.1.2.3", "fd00::1"}, withoutLoopback([]string{"box", "127.0.0.1", "10.1.2.3", "::1", "fd00::1"}))
	require.Equal(t, []string{"box", "127.0.0.1"}, withoutLoopback([]string{"box", "127.0.0.1"}), "a machine without a network")
}
