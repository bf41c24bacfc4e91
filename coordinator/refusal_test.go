package coordinator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	rules "leasehold/shared/protocol/visit/policy"
	"leasehold/shared/space"
	"leasehold/shared/space/spacetest"
)

// Origins rest for minutes, because a day of rest has 86,400 turns of each loop of the coordinator.
func TestVisitsGoOnAlthoughTheSpacesRefuseCalls(t *testing.T) {
	r := rules.DefaultRules()
	r.Cooldown = 5 * time.Minute
	inBubbleWith(t, r, func(c space.Conn) space.Conn { return spacetest.Refuse(c, 7) }, func(b *bench) {
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
