package auth_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/access"
	"leasehold/shared/fault"
)

func TestTheAuditIsWrittenToItsEnd(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	who := access.Identity{ID: "token-1", Name: "ann", Roles: access.Admin}
	const number = 500
	for n := range number {
		h.Note(t.Context(), who, "10.0.0.1", "addOrigin", fmt.Sprint("/", n), nil)
	}
	h.Note(t.Context(), who, "10.0.0.1", "addOrigin", "/bad", fmt.Errorf("%w: no such folder", fault.ErrInvalid))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	h.Auth.Run(ctx)
	records, err := h.Store.Audit(t.Context(), time.Time{}, number+1)
	require.NoError(t, err)
	require.Len(t, records, number+1)
	require.Equal(t, "/0", records[0].Object)
	require.Equal(t, "done", records[0].Outcome)
	require.Equal(t, h.clock, records[0].At)
	require.Contains(t, records[number].Outcome, "no such folder")
}

func TestTheChangeOfAClientThatHasGoneIsInTheAudit(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 50 {
		h.Note(gone, access.Identity{ID: "token-1"}, "", "putTuple", "/", nil)
	}
	h.Auth.Run(gone)
	records, err := h.Store.Audit(t.Context(), time.Time{}, 100)
	require.NoError(t, err)
	require.Len(t, records, 50)
}

func TestARecordThatCannotWaitIsLogged(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx, stop := context.WithCancelCause(t.Context())
	for range 1_000 {
		h.Note(ctx, access.Identity{ID: "token-1"}, "", "putTuple", "/", nil)
	}
	stop(errors.New("the client has gone"))
	h.Note(ctx, access.Identity{ID: "token-1"}, "", "deleteSpace", "/", nil)
	require.Contains(t, h.log.String(), "a record of the audit is missing")
	require.Contains(t, h.log.String(), "deleteSpace")
}

func TestEachChangeByAProgramIsARecord(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.Auth.Run(ctx)
	}()
	const number = 2_500 // more than wait at once
	ci, refused := access.Identity{ID: "token-1", Name: "ci"}, fmt.Errorf("%w: it needs the role admin", fault.ErrForbidden)
	for n := range number {
		h.NoteRoutine(t.Context(), ci, "10.0.0.1", "createTask", fmt.Sprint("/", n), nil)
		h.NoteRoutine(t.Context(), ci, "10.0.0.1", "createToken", fmt.Sprint("/", n), refused)
	}
	stop()
	<-ended
	records, err := h.Store.Audit(t.Context(), time.Time{}, 3*number)
	require.NoError(t, err)
	require.Len(t, records, 2*number)
	for n, r := range records {
		require.Equal(t, fmt.Sprint("/", n/2), r.Object)
		require.Equal(t, []string{"done", "forbidden: it needs the role admin"}[n%2], r.Outcome)
	}
}
