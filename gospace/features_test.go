package gospace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/gospace"
	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// pairs calls test with two spaces of this process, and with two of another program, over the network.
func pairs(t *testing.T, test func(t *testing.T, a, b *gospace.Space)) {
	for name, open := range map[string]func(t *testing.T) (a, b gospace.Space){
		"in process": func(t *testing.T) (a, b gospace.Space) {
			return gospace.NewSpace(t.Name() + "-a"), gospace.NewSpace(t.Name() + "-b")
		},
		"over the network": func(t *testing.T) (a, b gospace.Space) {
			uri := "tcp://" + freeAddress() + "/"
			server := gospace.NewSpace(uri + "a")
			t.Cleanup(func() { require.NoError(t, server.Close()) })
			return gospace.NewRemoteSpace(uri + "a"), gospace.NewRemoteSpace(uri + "b")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := open(t)
			t.Cleanup(func() { require.NoError(t, a.Close()); require.NoError(t, b.Close()) })
			test(t, &a, &b)
		})
	}
}

func TestTransactionsOverTwoSpacesAreAllOrNone(t *testing.T) {
	t.Parallel()
	pairs(t, func(t *testing.T, a, b *gospace.Space) {
		var n int
		var done sync.WaitGroup
		done.Go(func() {
			all, err := gospace.Transact(a.OpGet("coin", &n), b.OpQuery("open"), b.OpPut("coin", 1))
			require.NoError(t, err)
			require.Equal(t, []gospace.Tuple{gospace.CreateTuple("coin", 7), gospace.CreateTuple("open"), gospace.CreateTuple("coin", 1)}, all)
		})
		_, err := a.Put("coin", 7)
		require.NoError(t, err)
		_, err = b.Put("open")
		require.NoError(t, err)
		done.Wait()
		require.Equal(t, 7, n)
		_, err = gospace.TransactP(b.OpGet("coin", &n), a.OpAbsent("closed"), a.OpGet("coin", &n))
		require.ErrorIs(t, err, gospace.ErrUnmet)
		require.ErrorContains(t, err, "operation 3 of 3")
		require.Equal(t, 7, n, "nothing is stored with an error")
		size, err := b.Size()
		require.NoError(t, err)
		require.Equal(t, 2, size)
	})
}

func TestLimitsListsAndSubscriptions(t *testing.T) {
	t.Parallel()
	pairs(t, func(t *testing.T, a, _ *gospace.Space) {
		changes, err := a.Subscribe()
		require.NoError(t, err)
		for i := range 3 {
			_, err := a.Put("job", i)
			require.NoError(t, err)
		}
		var n int
		found, err := a.QueryUpTo(2, "job", &n)
		require.NoError(t, err)
		require.Len(t, found, 2)
		found, err = a.GetUpTo(2, "job", &n)
		require.NoError(t, err)
		require.Equal(t, []gospace.Tuple{gospace.CreateTuple("job", 0), gospace.CreateTuple("job", 1)}, found)
		_, err = a.GetUpTo(0, "job", &n)
		require.ErrorIs(t, err, fault.ErrInvalid)
		page, total, err := a.List(0, 10)
		require.NoError(t, err)
		require.Equal(t, []gospace.Tuple{gospace.CreateTuple("job", 2)}, page)
		require.Equal(t, 1, total)
		var seen []string
		for len(seen) < 5 {
			events, missed, err := changes.Next()
			require.NoError(t, err)
			require.Zero(t, missed)
			for _, e := range events {
				seen = append(seen, e.Change)
			}
		}
		require.Equal(t, []string{"put", "put", "put", "take", "take"}, seen)
		require.NoError(t, changes.Close())
		_, _, err = changes.Next()
		require.ErrorIs(t, err, fault.ErrClosed)
	})
}

func TestATimeoutEndsWhatWaits(t *testing.T) {
	t.Parallel()
	pairs(t, func(t *testing.T, a, b *gospace.Space) {
		short := a.WithTimeout(time.Millisecond)
		changes, err := a.Subscribe("never")
		require.NoError(t, err)
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		for name, wait := range map[string]func() error{
			"get":         func() error { _, err := short.Get("never"); return err },
			"query":       func() error { _, err := short.Query("never"); return err },
			"transaction": func() error { _, err := gospace.Transact(short.OpGet("never"), b.OpPut("x")); return err },
			"context":     func() error { _, err := a.WithContext(ctx).Get("never"); return err },
		} {
			require.ErrorIs(t, wait(), context.DeadlineExceeded, name)
		}
		require.NoError(t, changes.Close())
	})
}

func TestAConditionalPutSucceedsOnce(t *testing.T) {
	t.Parallel()
	pairs(t, func(t *testing.T, a, _ *gospace.Space) {
		errs := make(chan error)
		for range 8 {
			go func() {
				var holder string
				_, err := a.PutIfAbsent(gospace.CreateTemplate("lock", &holder), "lock", "me")
				errs <- err
			}()
		}
		won := 0
		for range 8 {
			if err := <-errs; err == nil {
				won++
			} else {
				require.ErrorIs(t, err, gospace.ErrUnmet)
			}
		}
		require.Equal(t, 1, won)
	})
}

func TestInvalidTransactionsNameTheOperation(t *testing.T) {
	t.Parallel()
	a, far := gospace.NewSpace("invalid-transactions"), gospace.NewRemoteSpace("tcp://127.0.0.1:1/x")
	defer a.Close()
	defer far.Close()
	wrong := gospace.NewSpace("tcp://")
	var none *gospace.Space
	for want, op := range map[string]gospace.SpaceOp{
		"want spaces of one program":   far.OpPut("x"),
		"want a name or tcp://":        wrong.OpPut("x"),
		"was not made by NewSpace":     none.OpGet("x"),
		"a nil pointer":                a.OpPut((*int)(nil)),
		"want a TTL of 0 or more":      {},
		"a pointer to an empty interf": a.OpGet(new(any)),
	} {
		if want == "want a TTL of 0 or more" {
			op, want = a.WithTTL(-1).OpPut("x"), "want 0 or more"
		}
		_, err := gospace.TransactP(a.OpPut("x"), op)
		require.ErrorIs(t, err, fault.ErrInvalid, want)
		require.ErrorContains(t, err, "operation 2 of 2")
		require.ErrorContains(t, err, want)
	}
	_, err := gospace.TransactP()
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, err = gospace.TransactP(gospace.SpaceOp{})
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, err = a.WithTTL(-1).Put("x")
	require.ErrorIs(t, err, fault.ErrInvalid)
	size, err := a.Size()
	require.NoError(t, err)
	require.Zero(t, size)
}

func TestASpaceEndsWithItsLastHandleAlsoBesideOthers(t *testing.T) {
	t.Parallel()
	other := gospace.NewSpace("beside-others-2")
	defer other.Close()
	for range 2 {
		first, second := gospace.NewSpace("beside-others-1"), gospace.NewSpace("beside-others-1")
		_, err := first.Put("x")
		require.NoError(t, err)
		require.NoError(t, first.Close())
		size, err := second.Size()
		require.NoError(t, err)
		require.Equal(t, 1, size, "a handle is open")
		require.NoError(t, second.Close())
	}
	_, err := other.Put("y")
	require.NoError(t, err)
}

func TestAProgramHasAsManyNamedSpacesAsItWants(t *testing.T) {
	t.Parallel()
	var all []gospace.Space
	for i := range 2000 {
		s := gospace.NewSpace(fmt.Sprintf("of-many-%d", i))
		_, err := s.Put(i)
		require.NoError(t, err)
		all = append(all, s)
	}
	for i, s := range all {
		_, err := s.GetP(i)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}

func TestAFolderBelongsToOneProgramAndItsSpacesStay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	a := gospace.NewSpaceWith("kept", gospace.SpaceOptions{Folder: folder})
	_, err := a.Put("x")
	require.NoError(t, err)
	again := gospace.NewSpace("kept")
	size, err := again.Size()
	require.NoError(t, err)
	require.Equal(t, 1, size, "a name is one space of the process")
	elsewhere := gospace.NewSpaceWith("kept", gospace.SpaceOptions{Folder: filepath.Join(folder, "other")})
	_, err = elsewhere.Put("x")
	require.ErrorIs(t, err, fault.ErrConflict)
	require.NoError(t, again.Close())
	require.NoError(t, a.Close())

	uri := "tcp://" + freeAddress() + "/kept"
	server := gospace.NewSpaceWith(uri, gospace.SpaceOptions{Folder: folder})
	client := gospace.NewRemoteSpace(uri)
	_, err = client.GetP("x")
	require.NoError(t, err)
	require.NoError(t, client.Close())
	require.NoError(t, server.Close())

	file := filepath.Join(folder, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	broken := gospace.NewSpaceWith("broken", gospace.SpaceOptions{Folder: file})
	_, err = broken.Put("x")
	require.ErrorContains(t, err, file)
	other := gospace.NewSpaceWith("tcp://192.0.2.1:9/x", gospace.SpaceOptions{Folder: folder})
	_, err = other.Put("x")
	require.ErrorContains(t, err, "192.0.2.1:9")
}

func TestASpaceWithOtherOptionsIsAConflict(t *testing.T) {
	t.Parallel()
	plain := gospace.NewSpace("with-options")
	defer plain.Close()
	_, err := plain.Put("x", int64(1))
	require.NoError(t, err)
	ordered := gospace.NewSpaceWith("with-options", gospace.SpaceOptions{Options: space.Options{Kind: space.Ordered, OrderBy: 1}})
	defer ordered.Close()
	_, err = ordered.Put("x", int64(1))
	require.ErrorIs(t, err, fault.ErrConflict)
}
