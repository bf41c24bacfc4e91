package cmd

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/coordinator/visits"
	"leasehold/shared/protocol/visit/policy"
)

func TestOriginShowTellsWhatARequestedVisitWaitsFor(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	requested := func(why string, until int64, disabled policy.Reason) string {
		o := visits.OriginSchedule{Why: why, Until: until, Urgent: true}
		o.Disabled = disabled
		return reason(api.ScheduleOf(o))
	}
	require.Equal(t, "a visit was requested", requested(policy.Eligible, policy.Never, ""))
	require.Equal(t, "a visit was requested; its host is being visited", requested("its host is being visited", policy.Never, ""))
	require.Equal(t, "a visit was requested; Retry-After until "+when(at), requested(policy.RetryAfter, at.Unix(), ""))
	require.Equal(t, "a visit was requested; Retry-After until "+when(at), requested(policy.RetryAfter, at.Unix(), policy.ByOperator))
}
