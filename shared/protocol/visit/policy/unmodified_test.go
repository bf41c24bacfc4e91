package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/visit/policy"
)

func TestTheContentIsReadAgainAfterAWeekAndWhenSilenceIsUnlikely(t *testing.T) {
	t.Parallel()
	r := policy.DefaultRules()
	const start = 1000 * day
	slow := policy.NewState(1, start, r)
	require.False(t, r.Unconditional(slow, start), "it has no validators")
	slow, _ = r.Record(slow, policy.Event{Status: policy.Full, At: start, Digest: "a"}, 0)
	require.False(t, r.Unconditional(slow, start+7*day-1))
	forced := slow
	forced.LastRead = policy.Never
	require.True(t, r.Unconditional(forced, start+1))
	require.True(t, r.Unconditional(slow, start+7*day))
	require.True(t, r.Unconditional(slow, start-1), "the clock was set back")

	fast := policy.NewState(1, start, r)
	var times []int64
	for at := int64(start - 20*3600); at <= start; at += 3600 {
		times = append(times, at)
	}
	fast, _ = r.Record(fast, policy.Event{Status: policy.Full, At: start, Digest: "a", Times: times, Open: true}, 0)
	require.False(t, r.Unconditional(fast, start+2*3600))
	require.True(t, r.Unconditional(fast, start+4*3600))

	stuck := fast
	for at := int64(start + 1800); at <= start+5*3600; at += 1800 {
		stuck, _ = r.Record(stuck, policy.Event{Status: policy.Full, At: at, Digest: "a", Unmodified: true}, 0)
	}
	require.True(t, r.Unconditional(stuck, start+5*3600), "answers without content do not count as reading")
	read, _ := r.Record(stuck, policy.Event{Status: policy.Full, At: start + 5*3600 + 1, Digest: "a"}, 0)
	require.False(t, r.Unconditional(read, start+6*3600))
}
