package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheCAIsChangedByAnAdminOnlyAndShown(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	reader := h.token("eve", "reader")
	status, before := h.by(reader, "GET", "identity", "")
	require.Equal(t, 200, status)
	require.Nil(t, before["former"])
	rotated, ended := 0, []string{}
	h.auth.OnRotate(func() { rotated++ })
	h.auth.OnRevoke(func(id string) { ended = append(ended, id) })
	h.auth.Connected(func() []string { return []string{"peer-x"} })

	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)
	status, _ = h.by(reader, "POST", "identity", `{"until": "`+until+`"}`)
	require.Equal(t, 403, status)
	for body, want := range map[string]string{`{}`: "until", `{"until": "soon"}`: "want a time", `{"until": "2999-01-01T00:00:00Z"}`: "want at most ten years"} {
		status, answer := h.by(h.admin, "POST", "identity", body)
		require.Equal(t, 400, status, body)
		require.Contains(t, strings.ToLower(fmt.Sprint(answer)), want, body)
	}
	require.Zero(t, rotated)
	status, during := h.by(h.admin, "POST", "identity", `{"until": "`+until+`"}`)
	require.Equal(t, 200, status)
	require.Equal(t, map[string]any{"fingerprint": before["fingerprint"], "until": until}, during["former"])
	require.NotEqual(t, before["fingerprint"], during["fingerprint"])
	require.Equal(t, 1, rotated)
	require.Empty(t, ended)
	_, shown := h.by(reader, "GET", "identity", "")
	require.Equal(t, during, shown)
	status, _ = h.by(h.admin, "POST", "identity", `{"until": "`+until+`"}`)
	require.Equal(t, 409, status, "one change at a time")

	status, after := h.by(h.admin, "POST", "identity", `{"until": "2020-01-01T00:00:00Z"}`)
	require.Equal(t, 200, status)
	require.Nil(t, after["former"])
	require.Equal(t, []string{"peer-x"}, ended, "processes of a stolen CA end at once")
	lines := strings.Join(h.audit(), "\n")
	require.Contains(t, lines, "admin rotateIdentity /api/v1/identity done")
}
