package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
)

func TestReadingAnOriginTakesNoLongerThanItsKindMay(t *testing.T) {
	t.Parallel()
	hang := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for kind, want := range map[models.OriginKind]time.Duration{models.Feed: 30 * time.Second, models.Git: 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			err := Within(t.Context(), kind, hang)
			require.ErrorIs(t, err, fault.ErrUnavailable)
			require.ErrorContains(t, err, "no complete answer within "+want.String())
			require.Equal(t, want, time.Since(began))
			require.NoError(t, Within(t.Context(), kind, func(ctx context.Context) error {
				<-ctx.Done()
				return nil
			}), "the answer was complete")
			broken := errors.New("broken")
			require.Equal(t, broken, Within(t.Context(), kind, func(context.Context) error { return broken }))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, Within(ctx, kind, hang), context.Canceled)
		})
	}
	for _, want := range []error{nil, errors.New("broken")} {
		require.Equal(t, want, Within(t.Context(), models.Media, func(ctx context.Context) error {
			_, limited := ctx.Deadline()
			require.False(t, limited)
			return want
		}))
	}
}

func TestABusyServerIsLeftAloneForAnHourUnlessItSaysOtherwise(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		status int
		header string
		want   time.Duration
	}{{429, "", time.Hour}, {503, "", time.Hour}, {429, "90", 90 * time.Second}, {500, "", 0}, {500, "60", time.Minute}, {404, "", 0},
		{503, "0", time.Hour}, {503, "-5", time.Hour}, {500, "0", 0}, {500, "1", time.Second}, {500, "soon", 0}, {500, "9999999999", 1 << 30 * time.Second},
		{500, "Mon, 02 Jan 2006 15:04:05 GMT", 0}} {
		r := &http.Response{StatusCode: x.status, Header: http.Header{"Retry-After": {x.header}}}
		require.Equal(t, x.want, RetryAfter(statusError(r)), "%+v", x)
	}
}

func TestAnErrorWithAWaitKeepsItsKindAndItsText(t *testing.T) {
	t.Parallel()
	err := Busy(fault.ErrUnavailable, 90*time.Second)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.EqualError(t, err, fault.ErrUnavailable.Error())
	require.Equal(t, 90*time.Second, RetryAfter(fmt.Errorf("list: %w", err)))
}

func TestTheDateOfARetryAfterIsReadByTheClockOfItsServer(t *testing.T) {
	t.Parallel()
	for _, years := range []int{-20, 0, 20} {
		at := time.Now().AddDate(years, 0, 0).UTC()
		r := &http.Response{StatusCode: 503, Header: http.Header{"Date": {at.Format(http.TimeFormat)}, "Retry-After": {at.Add(10 * time.Minute).Format(http.TimeFormat)}}}
		require.Equal(t, 10*time.Minute, RetryAfter(statusError(r)))
	}
}

func TestTheDateOfARetryAfterIsReadByOurClockIfTheServerHasNone(t *testing.T) {
	t.Parallel()
	r := &http.Response{StatusCode: 500, Header: http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}}
	require.InDelta(t, time.Hour, RetryAfter(statusError(r)), float64(time.Minute))
}

func TestARateLimitIsTheWaitOfAnAnswerThatRefusesForIt(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]time.Duration{403: 90 * time.Second, 429: 90 * time.Second, 404: 0, 500: 0} {
		r := &http.Response{StatusCode: status, Header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"90"}}}
		require.Equal(t, want, RetryAfter(statusError(r)), status)
		r.Header.Set("Retry-After", "60")
		require.Equal(t, time.Minute, RetryAfter(statusError(r)), status)
	}
}
