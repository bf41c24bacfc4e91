package visits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// The API and the command pass the name on as the user has written it.
func TestAnOriginIsSteeredByTheNameOfTheAction(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 1)
	_, err := s.Record(t.Context(), now, []models.Outcome{{Origin: "o0", Status: models.Failed, At: now, RetryAfter: 1000}})
	require.NoError(t, err)
	for _, c := range []struct {
		action   string
		want     error
		disabled policy.Reason
		urgent   bool
		waits    bool // for the end of the Retry-After
	}{
		{"disable", nil, policy.ByOperator, false, true},
		{"save", fault.ErrInvalid, policy.ByOperator, false, true},
		{"", fault.ErrInvalid, policy.ByOperator, false, true},
		{"enable", nil, "", false, true},
		{"save-now", nil, "", true, true},
		{"force-now", nil, "", true, false},
	} {
		require.ErrorIs(t, s.Steer(t.Context(), now, "o0", c.action), c.want, c.action)
		o, err := s.Schedule(t.Context(), now, "o0")
		require.NoError(t, err)
		require.Equal(t, c.disabled, o.Disabled, c.action)
		require.Equal(t, c.urgent, o.Urgent, c.action)
		require.Equal(t, c.waits, o.NotBefore != policy.Never, c.action)
		if c.want == nil {
			require.ErrorIs(t, s.Steer(t.Context(), now, "unknown", c.action), fault.ErrNotFound, c.action)
		}
	}
}

// Managers that wait for a visit look once more after a change. A call without a change would wake them in vain.
func TestEachCallThatMayMakeAVisitPossibleIsAChange(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s, ctx := politeStore(t, sqlfile.Memory, now, 2), t.Context()
	origin := func(id string, kind models.OriginKind) models.Origin {
		return models.Origin{ID: id, Kind: kind, URI: "/" + id}
	}
	require.NoError(t, s.List(ctx, now, Listing{Origins: []Named{{Origin: origin("lister", models.URLs)}}}))
	changed := func() bool {
		select {
		case <-s.Changed():
			return true
		default:
			return false
		}
	}
	require.True(t, changed())
	for name, call := range map[string]func() error{
		"save now":                func() error { return s.SaveNow(ctx, now, "o0") },
		"force now":               func() error { return s.ForceNow(ctx, now, "o0") },
		"a report":                func() error { return s.Tell(ctx, now, "o0") },
		"enable":                  func() error { return s.Enable(ctx, now, "o0") },
		"save all now":            func() error { return s.SaveAllNow(ctx, now, []models.Origin{{ID: "o1"}}) },
		"a listing":               func() error { return s.List(ctx, now, Listing{Origins: []Named{{Origin: origin("new", models.Feed)}}}) },
		"the beginning of a list": func() error { return s.List(ctx, now, Listing{Lister: "lister", Next: 1}) },
		"an origin of the catalog": func() error {
			return s.write(ctx, "add", func() error { return s.OriginAdded(s.db, origin("added", models.Feed)) })
		},
		"an outcome": func() error {
			_, err := s.Record(ctx, now, []models.Outcome{{Origin: "o0", Status: models.Failed, At: now}})
			return err
		},
	} {
		require.NoError(t, call(), name)
		require.True(t, changed(), name)
	}
	for name, call := range map[string]func() error{
		"save none":  func() error { return s.SaveAllNow(ctx, now, nil) },
		"a claim":    func() error { _, err := s.Claim(ctx, now, 1); return err },
		"a schedule": func() error { _, err := s.Schedule(ctx, now, "o0"); return err },
		"a kind that is neither visited nor a lister": func() error {
			return s.write(ctx, "add", func() error { return s.OriginAdded(s.db, origin("api", models.API)) })
		},
	} {
		require.NoError(t, call(), name)
		require.False(t, changed(), name)
	}
}
