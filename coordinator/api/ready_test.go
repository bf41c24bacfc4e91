package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
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
