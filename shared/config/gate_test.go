package config

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGatesAreReadAndShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Gate{
		"pspace=127.0.0.1:9990,write":                          {{Protocol: PSpace, Address: "127.0.0.1:9990", Space: "", Write: true}},
		"gospace=127.0.0.1,fridge,write,pspace=127.0.0.1,read": {{Protocol: GoSpace, Address: "127.0.0.1:31415", Space: "fridge", Write: true}, {Protocol: PSpace, Address: "127.0.0.1:9990", Space: "", Write: false}},
		"pspace=localhost,read":                                {{Protocol: PSpace, Address: "localhost:9990", Space: "", Write: false}},
		"pspace=[::1]:0,read,pspace=[::1]:0,write":             {{Protocol: PSpace, Address: "[::1]:0", Space: "", Write: false}, {Protocol: PSpace, Address: "[::1]:0", Space: "", Write: true}},
		"pspace=0.0.0.0:9990,role=producer,allow=10.1.2.3/8,allow=fd00::/8,gospace=127.0.0.1,fridge,role=reader": {
			{Protocol: PSpace, Address: "0.0.0.0:9990", Write: true, Role: "producer", Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}},
			{Protocol: GoSpace, Address: "127.0.0.1:31415", Space: "fridge", Role: "reader"},
		},
	} {
		var got, again []Gate
		require.NoError(t, gates{&got}.set(text), text)
		require.Equal(t, want, got)
		require.NoError(t, gates{&again}.set(gates{&got}.String()))
		require.Equal(t, want, again)
	}
}

func TestGatesThatAreNotAccepted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"pspace", "pspace=", "pspace=127.0.0.1:9990", "pspace=127.0.0.1:9990,admin", "pspace=127.0.0.1:9990,space,write", "pspace=127.0.0.1:99990,read",
		"gospace=127.0.0.1:1,write", "gospace=127.0.0.1:1,,write", "gospace=127.0.0.1:1,a,read,gospace=127.0.0.1:1,b,read",
		"native=127.0.0.1:1,read", "=127.0.0.1,read", "read", ",", "pspace=127.0.0.1:1,read,pspace=127.0.0.1:1,write",
		"pspace=127.0.0.1:1,role=admin", "pspace=127.0.0.1:1,role=", "pspace=127.0.0.1:1,allow=10.0.0.0/8", "pspace=127.0.0.1:1,read,allow=10.0.0.1",
		"pspace=127.0.0.1:1,read,role=reader", "gospace=127.0.0.1:1,role=reader,read", "role=reader", "allow=10.0.0.0/8,pspace=127.0.0.1:1,read",
	} {
		var got []Gate
		require.Error(t, gates{&got}.set(text), text)
	}
}

func TestGatesBeyondThisMachineNeedARoleAndANetwork(t *testing.T) {
	t.Parallel()
	for address, loopback := range map[string]bool{"127.0.0.1:1": true, "localhost:1": true, "[::1]:1": true, "0.0.0.0:1": false, "192.0.2.1:1": false, ":1": false} {
		require.Equal(t, loopback, areLoopback([]Gate{{Address: "127.0.0.1:2"}, {Address: address}}), address)
	}
	for gate, want := range map[string]string{
		"pspace=0.0.0.0,write":                                             "must have role=reader, role=producer or role=worker in place of read or write, unless insecure is true",
		"pspace=0.0.0.0,role=producer":                                     "must have allow=NETWORK, such as allow=10.0.0.0/8, unless insecure is true",
		"pspace=0.0.0.0,write,allow=10.0.0.0/8":                            "must have role=",
		"pspace=0.0.0.0,role=producer,allow=10.0.0.0/8":                    "",
		"pspace=127.0.0.1,write":                                           "",
		"pspace=127.0.0.1,write,gospace=0.0.0.0,a,role=worker":             "must have allow=",
		"gospace=192.0.2.1,a,role=reader,allow=192.0.2.0/24,allow=::1/128": "",
	} {
		c, err := Load(nil)
		require.NoError(t, err)
		require.NoError(t, gates{&c.Gates}.set(gate))
		var texts []string
		for _, broken := range brokenRules(c, func(string) bool { return true }) {
			texts = append(texts, fmt.Sprint(broken))
		}
		all := strings.Join(texts, "; ")
		if want == "" {
			require.Empty(t, texts, gate)
			require.Equal(t, !areLoopback(c.Gates), c.Authenticates(), gate)
			continue
		}
		require.Contains(t, all, want, gate)
		c.Insecure = true
		require.Empty(t, brokenRules(c, func(string) bool { return true }), gate)
	}
}

func TestAGateAllowsItsNetworksOnly(t *testing.T) {
	t.Parallel()
	g := Gate{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fe80::/10")}}
	for ip, want := range map[string]bool{"10.9.8.7": true, "::ffff:10.9.8.7": true, "11.0.0.1": false, "fe80::1%eth0": true, "::1": false} {
		require.Equal(t, want, g.Allows(netip.MustParseAddr(ip)), ip)
	}
	require.True(t, Gate{}.Allows(netip.MustParseAddr("203.0.113.1")))
}
