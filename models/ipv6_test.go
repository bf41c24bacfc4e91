package models_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/models"
)

func TestAHostInBracketsIsAnIPv6Address(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"::": true, "::1": true, "1::": true, "2001:db8::8:800:200c:417a": true, "1:2:3:4:5:6:7:8": true, "1:2:3:4:5:6:7::": true, "::2:3:4:5:6:7:8": true,
		"::ffff:192.0.2.1": true, "64:ff9b::192.0.2.1": true, "1:2:3:4:5:6:192.0.2.1": true,
		"": false, ":": false, "1": false, "7dF": false, "1:2:3:4:5:6:7": false, "1:2:3:4:5:6:7:8:9": false, "1::2::3": false, "12345::": false, "::192.0.2.256": false, ":::": false,
	} {
		require.Equal(t, want, models.IsWebURL("http://["+host+"]/"), host)
	}
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "0", "a1", "FFFF", "12345"}), 1, 10).Draw(t, "groups")
		host := strings.Join(groups, ":")
		address, err := netip.ParseAddr(host)
		require.Equal(t, err == nil && address.Is6(), models.IsWebURL("https://["+host+"]"), host)
	})
}
