package node

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/config"
	"leasehold/shared/process/datadir"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/tuple"
)

// gobMilk is the request of a goSpace client: Put("milk", 2).
var gobMilk = []byte("\x28\x7f\x03\x01\x01\x07Message\x01\xff\x80\x00\x01\x02\x01\x09Operation\x01\x0c\x00\x01\x01T\x01\x10\x00\x00\x00" +
	"\x58\xff\x80\x01\x0bPUT_REQUEST\x01\x2agithub.com/pspaces/gospace/container.Tuple\xff\x81\x03\x01\x01\x05Tuple\x01\xff\x82\x00\x01\x01\x01\x04Flds\x01\xff\x84\x00\x00\x00" +
	"\x1c\xff\x83\x02\x01\x01\x0e[]interface {}\x01\xff\x84\x00\x01\x10\x00\x00" +
	"\x1e\xff\x82\x1a\x01\x02\x06string\x0c\x06\x00\x04milk\x03int\x04\x02\x00\x04\x00\x00")

func TestOnePortServesAllProtocols(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	cfg.Data, cfg.Listen, cfg.HTTP = t.TempDir(), address, address
	cfg.Gates = []config.Gate{{Protocol: config.GoSpace, Address: address, Space: "fridge", Write: true}, {Protocol: config.PSpace, Address: address, Write: true}}
	ctx, stop := context.WithCancel(t.Context())
	listening, ended := make(chan datadir.Addresses, 1), make(chan error, 1)
	go func() { ended <- RunCoordinator(ctx, cfg, discard, func(at datadir.Addresses) { listening <- at }) }()
	require.Equal(t, []string{"gospace=" + address + ",fridge,write", "pspace=" + address + ",write"}, (<-listening).Gates)

	native, err := remote.Dial(t.Context(), remote.Config{Address: address, Session: "test-1", Log: discard})
	require.NoError(t, err)
	dial := func() net.Conn {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
		return c
	}
	gob := dial()
	_, err = gob.Write(gobMilk)
	require.NoError(t, err)
	answer, err := io.ReadAll(gob)
	require.NoError(t, err)
	require.Equal(t, []byte{3, 2, 0, 1}, answer)
	require.NoError(t, gob.Close())

	found, err := space.Over(native).Space("fridge").Query(t.Context(), tuple.Match("milk", tuple.Formal{Type: tuple.Int}))
	require.NoError(t, err)
	require.Equal(t, tuple.New("milk", 2), found)

	json := dial()
	_, err = io.WriteString(json, `{"messageType":"GET_REQUEST","target":"fridge","clientSession":"0","template":[{"formal":true,"value":"pspace:string"},{"formal":true,"value":"pspace:int"}]}`)
	require.NoError(t, err)
	line, err := bufio.NewReader(json).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, `[[{"type":"pspace:string","value":"milk"},{"type":"pspace:int","value":2}]]`)
	require.NoError(t, json.Close())

	health, err := http.Get("http://" + address + "/healthz")
	require.NoError(t, err)
	require.NoError(t, health.Body.Close())
	require.Equal(t, http.StatusOK, health.StatusCode)
	http.DefaultClient.CloseIdleConnections()

	require.NoError(t, space.Over(native).Close(context.Background()))
	stop()
	require.NoError(t, <-ended)
}

// The client has the answer and stays connected, so that only the end of the gate confirms it. The hub must still be
// there then: the end of its session would bring the tuple back.
func TestATupleThatAForeignClientReadJustBeforeTheCoordinatorStopsIsNotDeliveredAgain(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	cfg.Data, cfg.Listen, cfg.HTTP = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0"
	cfg.Gates = []config.Gate{{Protocol: config.PSpace, Address: "127.0.0.1:0", Write: true}}
	run := func(test func(at datadir.Addresses, notes space.Repository)) {
		ctx, stop := context.WithCancel(t.Context())
		listening, ended := make(chan datadir.Addresses, 1), make(chan error, 1)
		go func() { ended <- RunCoordinator(ctx, cfg, discard, func(at datadir.Addresses) { listening <- at }) }()
		at := <-listening
		native, err := remote.Dial(t.Context(), remote.Config{Address: at.Gate, Session: "test-1", Log: discard})
		require.NoError(t, err)
		test(at, space.Over(native))
		stop()
		require.NoError(t, <-ended)
	}
	run(func(at datadir.Addresses, r space.Repository) {
		require.NoError(t, r.Create(t.Context(), "notes", space.Options{}))
		require.NoError(t, r.Space("notes").Put(t.Context(), tuple.New("note"), 0))
		require.NoError(t, r.Close(t.Context()))
		client, err := net.Dial("tcp", strings.Split(strings.TrimPrefix(at.Gates[0], "pspace="), ",")[0])
		require.NoError(t, err)
		t.Cleanup(func() { _ = client.Close() })
		_, err = io.WriteString(client, `{"messageType":"GET_REQUEST","target":"notes","clientSession":"0","template":[{"formal":true,"value":"pspace:string"}]}`)
		require.NoError(t, err)
		line, err := bufio.NewReader(client).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, "note")
	})
	run(func(_ datadir.Addresses, r space.Repository) {
		n, err := r.Space("notes").Count(t.Context(), tuple.Match(tuple.AnyString))
		require.NoError(t, err)
		require.Zero(t, n, "it was delivered")
		require.NoError(t, r.Close(t.Context()))
	})
}
