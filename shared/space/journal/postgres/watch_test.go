package postgres_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/postgres"
)

// watch returns how long a standby waits for an owner whose sign is look's, by the time since the start.
func watch(t *testing.T, look func(since time.Duration) (postgres.Sign, error)) (waited time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := postgres.Watching{Lost: 5 * time.Second, Every: 200 * time.Millisecond, Look: func(context.Context) (postgres.Sign, error) {
			return look(time.Since(start))
		}}
		_, err := w.Wait(t.Context())
		require.NoError(t, err)
		waited = time.Since(start)
	})
	return waited
}

func TestAStandbyWaitsForASilence(t *testing.T) {
	t.Parallel()
	const end = 42 * time.Second
	alive := func(since time.Duration) postgres.Sign {
		return postgres.Sign{Epoch: 1, Renewed: int64(min(since, end) / time.Second)}
	}
	for name, c := range map[string]struct {
		look func(since time.Duration) (postgres.Sign, error)
		want time.Duration
	}{
		"an owner that stops": {func(d time.Duration) (postgres.Sign, error) { return alive(d), nil }, end + 5*time.Second},
		"an owner that stops while it only commits": {func(d time.Duration) (postgres.Sign, error) {
			return postgres.Sign{Epoch: 1, Position: journal.Position(min(d, end) / time.Second)}, nil
		}, end + 5*time.Second},
		"an owner that left in order": {func(d time.Duration) (postgres.Sign, error) {
			s := alive(d)
			s.Released = d >= 10*time.Second
			return s, nil
		}, 10 * time.Second},
		"an owner whose connection ended": {func(d time.Duration) (postgres.Sign, error) {
			s := alive(d)
			s.Gone = d >= 10*time.Second
			return s, nil
		}, 10 * time.Second},
		"a journal that nobody owned": {func(time.Duration) (postgres.Sign, error) { return postgres.Sign{Released: true}, nil }, 0},
		// The database answers again after a minute: the silence before it and after it counts.
		"an owner that stops while the database does not answer": {func(d time.Duration) (postgres.Sign, error) {
			if d > end+2*time.Second && d < end+time.Minute {
				return postgres.Sign{}, errors.New("no answer")
			}
			return alive(d), nil
		}, end + time.Minute + 3*time.Second},
		// Another member claimed the journal.
		"a new owner": {func(d time.Duration) (postgres.Sign, error) {
			s := alive(d)
			if d > end+4*time.Second {
				s.Epoch = 2
			}
			return s, nil
		}, end + 4*time.Second + 5*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.InDelta(t, c.want, watch(t, c.look), float64(400*time.Millisecond))
		})
	}
}

// A standby that was suspended, or whose look took long, does not count that time: the owner has the time to show
// itself.
func TestAPauseOfTheStandbyDoesNotCount(t *testing.T) {
	t.Parallel()
	paused := false
	waited := watch(t, func(since time.Duration) (postgres.Sign, error) {
		if since > 10*time.Second && !paused {
			paused = true
			time.Sleep(time.Minute)
		}
		renewed := 10
		if since > 71*time.Second {
			renewed = int(min(since, 80*time.Second) / time.Second)
		}
		return postgres.Sign{Epoch: 1, Renewed: int64(min(renewed, int(since/time.Second)))}, nil
	})
	require.InDelta(t, 85*time.Second, waited, float64(400*time.Millisecond))
}

func TestAStandbyThatIsNotWantedEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := postgres.Watching{Lost: time.Second, Every: time.Minute, Look: func(ctx context.Context) (postgres.Sign, error) {
			<-ctx.Done()
			return postgres.Sign{}, ctx.Err()
		}}.Wait(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// watching starts a standby, and returns what Watch returns.
func watching(t *testing.T, j *postgres.Journal, lost time.Duration) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- j.Watch(t.Context(), lost) }()
	return done
}

const never = time.Hour

func TestAStandbyClaimsAtOnceWhenTheOwnerLeaves(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	standby, other := open(t, c), open(t, c)
	require.NoError(t, standby.Watch(t.Context(), never), "nobody owns it")
	_, err := standby.Claim(t.Context())
	require.NoError(t, err)

	done := watching(t, other, never)
	commit(t, standby, 0, entry(1))
	require.NoError(t, standby.Close())
	require.NoError(t, <-done)
	_, err = other.Claim(t.Context())
	require.NoError(t, err)
	require.Equal(t, []journal.Fact{entry(1)}, load(t, other))
}

func TestAStandbyClaimsAtOnceWhenTheConnectionOfTheOwnerEnds(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	c.Owner = "victim of " + c.Realm
	owner, standby := claimed(t, c), open(t, c)
	done := watching(t, standby, never)
	require.NoError(t, owner.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM owner"))
	require.NoError(t, <-done)
	_, err := standby.Claim(t.Context())
	require.NoError(t, err)
	<-owner.Lost() // it finds out by itself, without a commit
	require.ErrorIs(t, owner.Confirm(t.Context()), journal.ErrDeposed)
}

func TestAnIdleOwnerIsNotLost(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	owner, standby := claimed(t, c), open(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
	defer cancel()
	require.ErrorIs(t, standby.Watch(ctx, 0), context.DeadlineExceeded)
	require.NoError(t, owner.Confirm(t.Context()))
}

// An owner is frozen when its connection holds the turn: here it is used up by the test.
func TestAFrozenOwnerIsLostAndEndsWhenItWakes(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	owner, standby := claimed(t, c), open(t, c)
	thaw := owner.Freeze()
	began := time.Now()
	require.NoError(t, standby.Watch(t.Context(), 2*time.Second))
	require.GreaterOrEqual(t, time.Since(began), 2*time.Second-200*time.Millisecond)
	_, err := standby.Claim(t.Context())
	require.NoError(t, err)
	commit(t, standby, 0, entry(1))
	thaw()
	<-owner.Lost()
	require.ErrorIs(t, owner.Commit(t.Context(), 0, nil), journal.ErrDeposed)
	require.Equal(t, []journal.Fact{entry(1)}, load(t, standby))
}

// Two standbys see the end of the owner: one gets the journal, and is not deposed by the other one.
func TestOfTwoStandbysOneClaims(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	require.NoError(t, claimed(t, c).Close())
	first, second := open(t, c), open(t, c)
	require.NoError(t, first.Watch(t.Context(), never))
	require.NoError(t, second.Watch(t.Context(), never))
	_, err := second.Claim(t.Context())
	require.NoError(t, err)
	_, err = first.Claim(t.Context())
	require.ErrorIs(t, err, fault.ErrConflict)
	require.NoError(t, second.Confirm(t.Context()))
	require.NoError(t, second.Close())
	require.NoError(t, first.Watch(t.Context(), never))
	_, err = first.Claim(t.Context())
	require.NoError(t, err)
}

func TestAStandbyEndsWhenItIsClosed(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	claimed(t, c)
	standby := open(t, c)
	done := watching(t, standby, never)
	require.NoError(t, standby.Close())
	require.ErrorIs(t, <-done, fault.ErrClosed)
}

func TestTheOwnerIsNamed(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	c.Owner, c.Addresses = "host1", "host1:7411,host1:7412"
	standby := open(t, c)
	_, err := standby.Owner(t.Context())
	require.ErrorIs(t, err, fault.ErrNotFound)
	claimed(t, c)
	o, err := standby.Owner(t.Context())
	require.NoError(t, err)
	require.False(t, o.Since.IsZero())
	o.Since = time.Time{}
	require.Equal(t, postgres.Owner{Epoch: 1, Name: "host1", Addresses: "host1:7411,host1:7412"}, o)
}
