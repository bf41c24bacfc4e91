package spaces_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
	"leasehold/spaces"
)

// Spaces of another program that this one has joined can be in a transaction together, but not
// with its own, because one engine must carry it out.
func TestATransactionIsOfSpacesOfOneProgram(t *testing.T) {
	there, err := spaces.Start(spaces.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, there.Stop()) }()
	elsewhere, err := there.Repository(t.Context(), "main-1")
	require.NoError(t, err)
	address, err := there.OpenGate(spaces.Gate{Address: "127.0.0.1:0"})
	require.NoError(t, err)
	here, err := spaces.Start(spaces.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, here.Stop()) }()
	repo, err := here.Repository(t.Context(), "main-1")
	require.NoError(t, err)
	defer func() { require.NoError(t, repo.Close(t.Context())) }()
	require.NoError(t, repo.Create(t.Context(), "own", space.Options{}))
	for _, name := range []string{"a", "b"} {
		require.NoError(t, elsewhere.Create(t.Context(), name, space.Options{}))
		require.NoError(t, repo.Join(t.Context(), "far-"+name, "tcp://"+address+"/"+name))
	}
	coin := tuple.New("coin")
	require.NoError(t, elsewhere.Space("a").Put(t.Context(), coin, 0))

	found, err := repo.Transact(t.Context(), transaction.Get("far-a", coin.Exactly()), transaction.Put("far-b", coin, 0))
	require.NoError(t, err)
	require.Equal(t, []tuple.Tuple{coin, nil}, found)
	_, err = repo.TransactP(t.Context(), transaction.Get("far-b", coin.Exactly()), transaction.Put("own", coin, 0))
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, `operation 2 of 2, put in "own" ("coin"): the space is not of the same program as "far-b"`)
	_, err = repo.TransactP(t.Context())
	require.ErrorIs(t, err, fault.ErrInvalid)

	put, err := repo.PutIfAbsent(t.Context(), "far-b", coin.Exactly(), coin, 0)
	require.NoError(t, err)
	require.False(t, put)
	page, err := repo.Browse(t.Context(), browse.Query{Space: "far-b", Open: true, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, []browse.Entry{{Tuple: coin}}, page.Entries)
}

func TestADeletedSpaceIsNotFound(t *testing.T) {
	h, err := spaces.Start(spaces.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Stop()) }()
	repo, err := h.Repository(t.Context(), "main-1")
	require.NoError(t, err)
	require.NoError(t, repo.Create(t.Context(), "box", space.Options{}))
	require.NoError(t, repo.Space("box").Put(t.Context(), tuple.New("x"), 0))
	_, err = h.Delete(t.Context(), "box", false)
	require.ErrorIs(t, err, fault.ErrConflict)
	removed, err := h.Delete(t.Context(), "box", true)
	require.NoError(t, err)
	require.Equal(t, 1, removed)
	require.ErrorIs(t, repo.Space("box").Put(t.Context(), tuple.New("x"), 0), fault.ErrNotFound)
}
