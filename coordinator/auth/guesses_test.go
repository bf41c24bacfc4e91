package auth_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/coordinator/auth"
	"leasehold/shared/access"
	"leasehold/shared/fault"
)

// isRefused reports whether an address that guesses gets err, which is about a wrong token too.
func isRefused(t *testing.T, err error) bool {
	t.Helper()
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	var too *auth.TooManyGuesses
	if !errors.As(err, &too) {
		return false
	}
	require.Positive(t, too.After)
	require.LessOrEqual(t, too.After, time.Second)
	return true
}

func TestAnAddressMayBeWrongSixtyTimesAndOnceASecond(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, secret := h.token(admission.Token{Name: "ci", Roles: access.Producer})
	guess := func(remote string) bool {
		_, err := h.ByToken(remote, "lht-wrong")
		return isRefused(t, err)
	}
	for range 60 {
		require.False(t, guess("10.0.0.1:4000"))
	}
	for range 1000 {
		require.True(t, guess("10.0.0.1:4001"), "from any port")
	}
	require.False(t, guess("10.0.0.2:4000"), "another address")
	_, err := h.ByToken("10.0.0.1:4000", secret)
	require.NoError(t, err, "others behind the address have good tokens")
	h.clock = h.clock.Add(time.Second)
	require.False(t, guess("10.0.0.1:4000"))
	require.True(t, guess("10.0.0.1:4000"))
	h.clock = h.clock.Add(-time.Hour)
	require.True(t, guess("10.0.0.1:4000"), "the clock was set back")
	h.clock = h.clock.Add(time.Hour)
	for range 60 {
		require.False(t, guess("10.0.0.1:4000"))
	}
	require.True(t, guess("10.0.0.1:4000"))
	require.Equal(t, 1, strings.Count(h.log.String(), "\n"), "one line a minute: %s", h.log)
	require.NotContains(t, h.log.String(), "lht-")
}

func TestAllAddressesOfANetworkOfIPv6AreOne(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	refused := 0
	for n := range 100 {
		if _, err := h.ByToken(fmt.Sprintf("[2001:db8::%x]:4000", n), "lht-wrong"); isRefused(t, err) {
			refused++
		}
	}
	require.Equal(t, 40, refused)
}

func TestWrongJoinLinesAreGuessesToo(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	line, p := h.invite(admission.Invite{}), newProcess(t)
	refused := 0
	for range 100 {
		if _, err := h.Join(t.Context(), "10.0.0.1:4000", line.ID, "wrong", p.csr, ""); isRefused(t, err) {
			refused++
		}
	}
	require.Equal(t, 40, refused)
	_, err := h.Join(t.Context(), "10.0.0.1:4000", line.ID, line.Secret.Reveal(), p.csr, "")
	require.NoError(t, err)
}
