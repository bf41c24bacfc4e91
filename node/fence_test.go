package node

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/foreign"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/datadir"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
)

func TestTheClientsOfAGateHaveItsRole(t *testing.T) {
	t.Parallel()
	for role, want := range map[string][]bool{ // query fridge, put fridge, get fridge, query task, put task, get task, get result
		"reader":   {true, false, false, false, false, false, false},
		"producer": {true, true, true, true, true, false, true},
		"worker":   {false, false, false, true, false, true, false},
	} {
		allowed := permit(config.Gate{Role: role})
		for i, o := range []foreign.Operation{
			{Verb: space.VerbQuery, Space: "fridge"}, {Verb: space.VerbPut, Space: "fridge"}, {Verb: space.VerbGetUpTo, Space: "fridge"},
			{Verb: space.VerbQueryP, Space: task.Space}, {Verb: space.VerbPutP, Space: task.Space}, {Verb: space.VerbGet, Space: task.Space}, {Verb: space.VerbGetP, Space: task.Result},
		} {
			err := allowed(o)
			require.Equal(t, want[i], err == nil, "%s: %s %s: %v", role, o.Verb, o.Space, err)
			if err != nil {
				require.ErrorIs(t, err, fault.ErrForbidden)
			}
		}
	}
	require.Error(t, permit(config.Gate{Role: "nobody"})(foreign.Operation{Verb: space.VerbQuery, Space: "fridge"}))
}

// TestAGateBeyondThisMachineIsFencedByNetworkAndRole runs a coordinator that authenticates, because its gates listen on
// all addresses.
func TestAGateBeyondThisMachineIsFencedByNetworkAndRole(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	cfg.Data, cfg.Listen, cfg.HTTP = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0"
	gate := func(role string, network string) config.Gate {
		return config.Gate{Protocol: config.PSpace, Address: "0.0.0.0:0", Role: role, Write: role != "reader", Allow: []netip.Prefix{netip.MustParsePrefix(network)}}
	}
	fridge := config.Gate{Protocol: config.GoSpace, Address: "127.0.0.1:0", Space: "fridge"}
	cfg.Gates = []config.Gate{fridge, gate("producer", "127.0.0.0/8"), gate("reader", "127.0.0.0/8"), gate("producer", "192.0.2.0/24")}
	ctx, stop := context.WithCancel(t.Context())
	listening, ended := make(chan datadir.Addresses, 1), make(chan error, 1)
	go func() { ended <- RunCoordinator(ctx, cfg, discard, func(at datadir.Addresses) { listening <- at }) }()
	var addresses datadir.Addresses
	select {
	case addresses = <-listening:
	case err := <-ended:
		require.NoError(t, err)
	}
	require.NotEmpty(t, addresses.CA, "a gate beyond this machine turns authentication on")
	put := func(i int) string {
		address, _, _ := strings.Cut(strings.TrimPrefix(addresses.Gates[i+1], "pspace="), ",")
		_, port, err := net.SplitHostPort(address)
		require.NoError(t, err)
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
		_, err = io.WriteString(c, `{"messageType":"PUT_REQUEST","target":"fridge","clientSession":"0","tuple":[{"type":"pspace:string","value":"milk"}]}`)
		require.NoError(t, err)
		line, _ := bufio.NewReader(c).ReadString('\n')
		return line
	}
	require.Contains(t, put(0), `"status":true`)
	require.Contains(t, put(1), `"statusCode":"403"`)
	require.Empty(t, put(2), "another network")
	stop()
	require.NoError(t, <-ended)
}
