package policy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

func TestHostsMatchTheirGroup(t *testing.T) {
	t.Parallel()
	g, err := policy.ParseHostGroups(" Acast=*.acast.com, *.acast.net,local=127.0.0.?:*,[[]::1]:* ")
	require.NoError(t, err)
	for host, want := range map[string]string{
		"": "", "feeds.acast.com": "group acast", "feeds.acast.net:8080": "group acast", "acast.com": "acast.com",
		"127.0.0.2:80": "group local", "127.0.0.2": "127.0.0.2", "[::1]:80": "group local", "x.example": "x.example",
	} {
		require.Equal(t, want, g.Of(host), host)
		require.Equal(t, want != host, policy.HostGroupName(g.Of(host)) != "")
	}
	same, err := policy.ParseHostGroups(g.String())
	require.NoError(t, err)
	require.Equal(t, g, same)
	none, err := policy.ParseHostGroups("")
	require.NoError(t, err)
	require.Equal(t, "a.example", none.Of("a.example"))
	for _, bad := range []string{"*.a.example", "a=", "a=[", "a=x,a=y", "A b=x", "a=x/y", "a=x,,y", "=x", "a=b c"} {
		_, err := policy.ParseHostGroups(bad)
		require.ErrorIs(t, err, fault.ErrInvalid, bad)
	}
}

func TestTheNamesOfHostGroupsAreShortAndTheFirstGroupThatMatchesCounts(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("a", 32)
	g, err := policy.ParseHostGroups(longest + "=*.x.example,b=*.x.example,*.y.example,c=z.example:8080")
	require.NoError(t, err)
	require.Len(t, g, 3)
	for host, want := range map[string]string{"h.x.example": longest, "h.y.example": "b", "z.example:8080": "c", "z.example": "", "z.example:80": "", "h.y.example:1": "b"} {
		require.Equal(t, want, policy.HostGroupName(g.Of(host)), host)
	}
	_, err = policy.ParseHostGroups(longest + "a=*.x.example")
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, err = policy.ParseHostGroups("x.example")
	require.ErrorContains(t, err, "want NAME=PATTERN")
	blank, err := policy.ParseHostGroups(" \n")
	require.NoError(t, err)
	require.Empty(t, blank)
	require.Empty(t, blank.String())
}
