package spacetest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
)

// A procedure whose second put may fail without an error would leave half of its work done.
func TestAProcedureThatLosesAnErrorIsNoticed(t *testing.T) {
	put := func(tx space.Tx, n int64) error {
		_, err := tx.Put("a", tuple.New(n), space.PutOptions{})
		return err
	}
	var noticed []string
	procedures := spacetest.FailWrites(space.Procedures{
		"good": func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
			if err := put(tx, 1); err != nil {
				return nil, err
			}
			return tuple.New(tx.NextToken()), put(tx, 2)
		},
		"bad": func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
			if err := put(tx, 1); err != nil {
				return nil, err
			}
			_ = put(tx, 2)
			return nil, nil
		},
	}, func(format string, args ...any) { noticed = append(noticed, fmt.Sprintf(format, args...)) })
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: procedures})
	require.NoError(t, err)
	repo, err := e.Session(t.Context(), "s", 0)
	require.NoError(t, err)
	require.NoError(t, repo.Create(t.Context(), "a", space.Options{}))
	reply, err := repo.Call(t.Context(), space.OpID{}, "good", nil)
	require.NoError(t, err)
	require.Equal(t, tuple.New(int64(1)), reply, "an attempt takes no token")
	require.Empty(t, noticed)
	_, err = repo.Call(t.Context(), space.OpID{}, "bad", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"bad: write 2 failed, and the procedure answered <nil>"}, noticed)
	n, err := repo.Space("a").Count(t.Context(), tuple.Match(tuple.AnyInt64))
	require.NoError(t, err)
	require.Equal(t, 4, n, "the attempts leave nothing")
}
