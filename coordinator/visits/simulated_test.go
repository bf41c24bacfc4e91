package visits_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/database"
	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
	"leasehold/shared/protocol/visit/simulate"
)

// No pool runs out of origins. Policies with one pool have nothing to divide.
func TestClaimsOfAnySizeDivideSlotsLiveAsSimulated(t *testing.T) {
	t.Parallel()
	const waiting = 100
	world, err := simulate.Parse([]byte(`{"name": "all pools", "capacity": 0.01, "cold": 0.7, "dated": true, "dated_share": 0.5, "median_rate": 0.5, "recall": 1, "new": 0, "dead": 0, "dying": 0, "failed_rate": 0}`))
	require.NoError(t, err)
	for _, name := range policy.Names {
		sizes := []int{1, 3, 16, waiting}
		if name == "legacy" || name == "roundrobin" {
			sizes = []int{16}
		}
		rules := policy.DefaultRules()
		rules.Cooldown, rules.NowShare = time.Hour, 0
		for _, size := range sizes {
			s, at := withAllPools(t, name, rules, waiting)
			before := metrics(t, s, at).Picked
			slots := waiting / size * size
			for range slots / size {
				require.Len(t, claim(t, s, at, size), size)
			}
			live := map[string]float64{}
			for pool, n := range metrics(t, s, at).Picked {
				live[pool] = float64(n-before[pool]) / float64(slots)
			}
			simulated, err := simulate.Run(t.Context(), simulate.Setup{
				Scenario: world, Policy: name, Rules: rules, Origins: 20 * waiting, Days: 5, Seed: 5, Claim: size, Capacity: waiting,
			})
			require.NoError(t, err)
			of, total := float64(simulated.Visits), 1.0
			if name == "seed" { // its slots for origins without dates are their part of all origins, which differs
				of, total = of-float64(simulated.Pools["A"]), total-live["A"]
				delete(simulated.Pools, "A")
			}
			for pool, n := range simulated.Pools {
				require.InDelta(t, float64(n)/of, live[pool]/total, 0.04, "%s, claims of %d, pool %s: %v and %v", name, size, pool, live, simulated.Pools)
			}
		}
	}
}

// withAllPools returns a store in which n origins wait in each group of origins, and three times as many without a
// date.
func withAllPools(t *testing.T, name string, rules policy.Rules, n int) (*opened, time.Time) {
	t.Helper()
	s := openAt(t, database.Memory, name, func(r *policy.Rules) { *r = rules })
	list(t, s, noon, visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}})
	require.NoError(t, s.Disable(t.Context(), noon, "lister"))
	all := folders(6 * n)
	visited, added := all[:2*n], all[2*n:]
	for i := range visited {
		visited[i].Updated = noon.Add(-time.Hour)
	}
	list(t, s, noon, visits.Listing{Lister: "lister", Origins: visited})
	for {
		var outcomes []models.Outcome
		for i, v := range claim(t, s, noon, 2*n) {
			outcomes = append(outcomes, outcome(v, noon, models.Eventful, fmt.Sprint(i)))
		}
		if len(outcomes) == 0 {
			break
		}
		record(t, s, noon, outcomes...)
	}
	at := noon.AddDate(0, 0, 9)
	for i := range n {
		visited[i].Updated, added[i].Updated = at.Add(-time.Hour), at.Add(-time.Hour)
	}
	list(t, s, at, visits.Listing{Lister: "lister", Origins: all})
	return s, at
}
