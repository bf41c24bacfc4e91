package coordinator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/space"
	"leasehold/shared/space/spacetest"
)

func TestVisitsGoOnAlthoughTheSpacesRefuseCalls(t *testing.T) {
	inBubbleWith(t, func(c space.Conn) space.Conn { return spacetest.Refuse(c, 7) }, func(b *bench) {
		repo, err := b.Engine().Session(b.t.Context(), "manager", 0) // of another process
		require.NoError(b.t, err)
		for range 20 {
			id := b.end(repo, models.Eventful)
			<-time.After(20 * time.Second) // for repeated calls
			o, err := b.store.Origin(b.t.Context(), id)
			require.NoError(b.t, err)
			require.Equal(b.t, models.Eventful, o.LastOutcome)
		}
	})
}
