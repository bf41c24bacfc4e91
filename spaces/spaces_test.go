package spaces_test

import (
	"bufio"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
	"leasehold/spaces"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOneProcessUsesAFolder(t *testing.T) {
	folder := t.TempDir()
	h, err := spaces.Start(spaces.Config{Folder: folder})
	require.NoError(t, err)
	_, err = spaces.Start(spaces.Config{Folder: folder})
	require.ErrorIs(t, err, fault.ErrConflict)
	require.NoError(t, h.Stop())
	require.NoError(t, h.Stop())
	_, err = h.Repository(t.Context(), "late-1")
	require.ErrorIs(t, err, fault.ErrClosed)
	_, err = h.OpenGate(spaces.Gate{Address: "127.0.0.1:0"})
	require.ErrorIs(t, err, fault.ErrClosed)
	h, err = spaces.Start(spaces.Config{Folder: folder})
	require.NoError(t, err, "the folder is free again")
	require.NoError(t, h.Stop())
}

func TestInvalidGatesAndSpacesAreRefused(t *testing.T) {
	h, err := spaces.Start(spaces.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Stop()) }()
	for _, c := range []struct {
		gate spaces.Gate
		want error
	}{
		{spaces.Gate{Protocol: "soap", Address: "127.0.0.1:0"}, fault.ErrInvalid},
		{spaces.Gate{Protocol: spaces.GoSpace, Address: "127.0.0.1:0"}, fault.ErrInvalid},
		{spaces.Gate{Address: "0.0.0.0:0"}, fault.ErrForbidden},
	} {
		_, err := h.OpenGate(c.gate)
		require.ErrorIs(t, err, c.want, "%+v", c.gate)
	}
	_, err = h.OpenGate(spaces.Gate{Address: "127.0.0.1"})
	require.ErrorContains(t, err, "127.0.0.1")
	require.ErrorIs(t, h.CloseGate("127.0.0.1:1"), fault.ErrNotFound)
	repo, err := h.Repository(t.Context(), "main-1")
	require.NoError(t, err)
	address, err := h.OpenGate(spaces.Gate{Address: "127.0.0.1:0"})
	require.NoError(t, err)
	require.ErrorIs(t, repo.Join(t.Context(), "x", "tcp://"+address+"/none"), fault.ErrNotFound)
	for _, uri := range []string{"", "box", "http://" + address + "/box", "tcp://" + address, "tcp://localhost/box"} {
		require.ErrorIs(t, repo.Join(t.Context(), "x", uri), fault.ErrInvalid, uri)
	}
	require.Empty(t, repo.Joined())
}

func TestAForeignProgramSpeaksJSONToAHost(t *testing.T) {
	h, err := spaces.Start(spaces.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Stop()) }()
	repo, err := h.Repository(t.Context(), "main-1")
	require.NoError(t, err)
	require.NoError(t, repo.Create(t.Context(), "fridge", space.Options{}))
	address, err := h.OpenGate(spaces.Gate{Protocol: spaces.PSpace, Address: "127.0.0.1:0"})
	require.NoError(t, err)
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	_, err = c.Write([]byte(`{"messageType":"PUT_REQUEST","target":"fridge","clientSession":"0","tuple":[{"type":"pspace:string","value":"milk"}]}` + "\n"))
	require.NoError(t, err)
	_, err = bufio.NewReader(c).ReadString('\n')
	require.NoError(t, err)
	_, err = repo.Space("fridge").Get(t.Context(), tuple.Match("milk"))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NoError(t, h.CloseGate(address))
}

func TestAJoinedSpaceHidesTheOwnAndIsReplacedByTheNext(t *testing.T) {
	h, err := spaces.Start(spaces.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Stop()) }()
	repo, err := h.Repository(t.Context(), "main-1")
	require.NoError(t, err)
	for _, name := range []string{"a", "b"} {
		require.NoError(t, repo.Create(t.Context(), name, space.Options{}))
		require.NoError(t, repo.Space(name).Put(t.Context(), tuple.New(name), 0))
	}
	address, err := h.OpenGate(spaces.Gate{Address: "127.0.0.1:0"})
	require.NoError(t, err)
	for _, name := range []string{"a", "b"} {
		require.NoError(t, repo.Join(t.Context(), "x", "tcp://"+address+"/"+name))
		got, err := repo.Space("x").Query(t.Context(), tuple.Match(tuple.AnyString))
		require.NoError(t, err)
		require.Equal(t, tuple.New(name), got)
	}
	require.NoError(t, repo.Close(t.Context()))
}

func TestAGateOfAHostRefusesClientsOfOtherProtocolsInWords(t *testing.T) {
	h, err := spaces.Start(spaces.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Stop()) }()
	for _, g := range []struct {
		gate       spaces.Gate
		send, want string
	}{
		{spaces.Gate{Protocol: spaces.GoSpace, Space: "s"}, `{"messageType":"PUT_REQUEST"}`, `"statusMessage":"this port does not speak`},
		{spaces.Gate{Protocol: spaces.PSpace}, "\x28\x7f\x03\x01\x01\x07Message", "this port does not speak"},
		{spaces.Gate{Protocol: spaces.Native}, `{"messageType":"PUT_REQUEST"}`, `"statusMessage":"this port does not speak`},
	} {
		g.gate.Address = "127.0.0.1:0"
		address, err := h.OpenGate(g.gate)
		require.NoError(t, err)
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = io.WriteString(c, g.send)
		require.NoError(t, err)
		answer, err := io.ReadAll(c)
		require.NoError(t, err)
		require.Contains(t, string(answer), g.want)
		require.NoError(t, c.Close())
		require.NoError(t, h.CloseGate(address))
	}
}
