package peer_test

import (
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/peer"
	"leasehold/shared/fault"
)

func TestPeersAreAddressesOrNetworksOf64Bits(t *testing.T) {
	t.Parallel()
	exempt := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("2001:db8:5::/48")}
	of := func(address string) peer.Peer { return peer.OfText(net.JoinHostPort(address, "9"), exempt) }
	for _, same := range [][2]string{
		{"192.0.2.1", "192.0.2.1"}, {"192.0.2.1", "::ffff:192.0.2.1"}, {"2001:db8::1", "2001:db8::2:0:0:1"}, {"fe80::1%eth0", "fe80::2%eth1"},
	} {
		require.Equal(t, of(same[0]), of(same[1]), same)
		require.NotZero(t, of(same[0]), same)
	}
	for _, differ := range [][2]string{{"192.0.2.1", "192.0.2.2"}, {"2001:db8::1", "2001:db8:0:1::1"}} {
		require.NotEqual(t, of(differ[0]), of(differ[1]), differ)
	}
	for _, without := range []string{"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3", "2001:db8:5:1::1", "no address"} {
		require.Zero(t, of(without), without)
	}
	require.Zero(t, peer.Of(&net.UnixAddr{Name: "pipe"}, nil))
	require.Equal(t, of("192.0.2.1"), peer.Of(&net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 5}, exempt))
}

func TestAPeerHasAtMostItsQuota(t *testing.T) {
	t.Parallel()
	q, one, other := peer.NewQuota("sessions", 2), peer.OfText("192.0.2.1:9", nil), peer.OfText("192.0.2.2:9", nil)
	require.NoError(t, q.Take(one))
	require.NoError(t, q.Take(one))
	for range 3 {
		err := q.Take(one)
		require.ErrorIs(t, err, fault.ErrOverloaded)
		require.ErrorContains(t, err, "192.0.2.1/32")
		require.ErrorContains(t, err, "2 sessions")
	}
	require.NoError(t, q.Take(other), "others are not affected")
	q.Return(one)
	require.NoError(t, q.Take(one))
	require.Error(t, q.Take(one))
	for range 100 {
		require.NoError(t, q.Take(peer.Peer{}))
	}
	q.Return(peer.Peer{})
}

func ExampleQuota() {
	connections := peer.NewQuota("connections", 1)
	client := peer.OfText("192.0.2.1:40000", nil)
	fmt.Println(connections.Take(client))
	fmt.Println(connections.Take(client))
	// Output:
	// <nil>
	// 192.0.2.1/32: overloaded: a peer may have at most 1 connections (exempt it: --quota-exempt)
}
