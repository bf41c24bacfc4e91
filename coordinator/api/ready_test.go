package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/peer"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// answeringSpaces are spaces that answer a list.
type answeringSpaces struct{ space.Repository }

func (answeringSpaces) List(context.Context) ([]space.Info, error) { return nil, nil }

// slowCatalog answers when a test sends the answer.
type slowCatalog struct {
	catalog.Catalog
	asked  int
	answer chan error
}

func (c *slowCatalog) Origins(context.Context) ([]models.Origin, error) {
	c.asked++
	return nil, <-c.answer
}

// Probes come from every replica of a load balancer; while the catalog is slow they must neither
// pile up at it nor block each other for good.
func TestProbesOfReadinessShareACheckAndEndWithIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &slowCatalog{answer: make(chan error)}
		s := &server{Config: Config{Catalog: slow}, repo: answeringSpaces{}}
		for round, want := range []error{nil, errors.New("the catalog is away"), nil} {
			results := make(chan error, 3)
			for range 3 {
				go func() { results <- s.checkReady(t.Context()) }()
				synctest.Wait()
			}
			require.Equal(t, round+1, slow.asked)
			slow.answer <- want
			for range 3 {
				require.Equal(t, want, <-results)
			}
		}
	})
}

// Listings that are refused while the server is busy must not use up the turns of later ones.
func TestARefusedBulkRequestGivesItsTurnBack(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := &server{slots: make(chan struct{}, 1), peers: peer.NewQuota("requests", 2), listings: make(chan struct{}, maxListings)}
	bulk, r := route{method: "POST", path: "/bulk", isBulk: true}, httptest.NewRequestWithContext(ctx, "POST", "/bulk", nil)
	s.slots <- struct{}{}
	for range maxListings + 1 {
		_, err := s.admit(ctx, r, bulk)
		require.ErrorIs(t, err, fault.ErrOverloaded)
	}
	<-s.slots
	for range maxListings + 1 {
		place, err := s.admit(ctx, r, bulk)
		require.NoError(t, err)
		place.leave()
	}
	require.Empty(t, s.slots)
	require.Empty(t, s.listings)
}

type brokenSpaces struct{ space.Repository }

func (brokenSpaces) List(context.Context) ([]space.Info, error) {
	return nil, errors.New("no space answers")
}

// A load balancer must not send requests to a coordinator whose spaces or whose catalog fail, or which
// is about to end.
func TestACoordinatorOfWhichAPartFailsIsNotReady(t *testing.T) {
	t.Parallel()
	fails := func(err error) *slowCatalog {
		c := &slowCatalog{answer: make(chan error, 1)}
		c.answer <- err
		return c
	}
	require.NoError(t, (&server{Config: Config{Catalog: fails(nil)}, repo: answeringSpaces{}}).ready(t.Context()))
	require.ErrorContains(t, (&server{Config: Config{Catalog: fails(nil)}, repo: brokenSpaces{}}).ready(t.Context()), "no space answers")
	require.ErrorContains(t, (&server{Config: Config{Catalog: fails(errors.New("no catalog"))}, repo: answeringSpaces{}}).ready(t.Context()), "no catalog")
}

// Work is done in the background, and waits while the database cannot be written.
func TestACatalogThatCannotBeWrittenIsNotReadyAndTheAnswerTellsWhy(t *testing.T) {
	t.Parallel()
	ready := &slowCatalog{answer: make(chan error, 1)}
	ready.answer <- nil
	locked := fmt.Errorf("the catalog cannot be written since noon: %w", fault.ErrUnavailable)
	s := &server{Config: Config{Catalog: ready, Health: func() error { return locked }, Log: slog.New(slog.DiscardHandler)}, repo: answeringSpaces{}}
	w := httptest.NewRecorder()
	s.readyz(w, httptest.NewRequest("GET", "/readyz", nil))
	require.Equal(t, 503, w.Code)
	require.Equal(t, "not ready: the catalog cannot be written since noon: unavailable\n", w.Body.String())
	locked = nil
	w = httptest.NewRecorder()
	s.readyz(w, httptest.NewRequest("GET", "/readyz", nil))
	require.Equal(t, 200, w.Code)
}
