package api_test

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/shared/access"
)

func TestAnEndingWayBackIsAWarning(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	reader := h.token("eve", "reader")
	_, w := h.by(reader, "GET", "warnings", "")
	require.Equal(t, []any{}, w["items"])
	_, err := h.auth.Store.CreateInvite(t.Context(), admission.Invite{ID: "day", Role: access.Worker, Expires: time.Now().Add(24 * time.Hour)}, "secret")
	require.NoError(t, err)
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	_, err = h.auth.Store.Join(t.Context(), "day", "secret", key, "box", time.Now().Add(24*time.Hour))
	require.NoError(t, err)
	_, w = h.by(reader, "GET", "warnings", "")
	require.Len(t, w["items"], 1)
	require.Contains(t, w["items"].([]any)[0], "1 process joined by the invite day, which ends at ")
}
