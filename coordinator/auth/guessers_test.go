package auth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestTheAddressesThatGuessAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := guesses{now: time.Now, log: slog.New(slog.DiscardHandler), of: map[netip.Prefix]guesser{}}
		for n := range 100_000 {
			require.ErrorIs(t, g.check(fmt.Sprintf("10.%d.%d.%d:4000", n>>16, n>>8&255, n&255), fault.ErrUnauthenticated), fault.ErrUnauthenticated)
		}
		require.Len(t, g.of, maxGuessers)
		require.NoError(t, g.check("10.0.0.1:4000", nil))
		other := errors.New("the database is busy")
		require.Equal(t, other, g.check("10.0.0.1:4000", other))
		require.ErrorIs(t, g.check("no address", fault.ErrUnauthenticated), fault.ErrUnauthenticated)
	})
}
