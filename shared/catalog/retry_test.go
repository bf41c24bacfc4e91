package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func TestAWriteThatFindsNoRoomIsTriedAgainUntilThereIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries, broken := 0, errors.New("broken")
		err := catalog.RetryOwn(t.Context(), quiet, func() error {
			if tries++; tries < 5 {
				return fmt.Errorf("full: %w", fault.ErrOverloaded)
			}
			return broken
		})
		require.ErrorIs(t, err, broken, "any other error is an answer")
		require.Equal(t, 5, tries)
	})
}

func TestACallThatNobodyAnswersIsTriedAgainUntilSomebodyDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := []error{fault.ErrUnavailable, fault.ErrOverloaded, fault.ErrUnavailable, nil}
		tries := 0
		require.NoError(t, catalog.RetryUnavailable(t.Context(), quiet, func() error { tries++; return answers[tries-1] }))
		require.Equal(t, len(answers), tries)

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, catalog.RetryUnavailable(ctx, quiet, func() error { return fault.ErrUnavailable }), fault.ErrUnavailable)
		broken := errors.New("broken")
		require.ErrorIs(t, catalog.RetryUnavailable(t.Context(), quiet, func() error { return broken }), broken)
	})
}

func TestAWriteThatFindsNoRoomIsGivenUpWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := catalog.RetryOwn(ctx, quiet, func() error { return fault.ErrOverloaded })
		require.ErrorIs(t, err, fault.ErrOverloaded)
	})
}
