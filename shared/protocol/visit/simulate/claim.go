package simulate

import "leasehold/shared/protocol/visit/policy"

// visitBest gives out the slots of one tick in claims (Setup.Claim), which follow each other evenly, and at most
// HostVisits of them to a host. Slots that no origin takes are lost, and fractions of a slot are kept for the next
// tick.
func (r *run) visitBest(now int64) {
	r.credit += r.Setup.Capacity * float64(r.tick) / day
	n := int(r.credit)
	r.credit -= float64(n)
	r.meter.slots += n
	size := r.Setup.Claim
	if size == 0 {
		size = n
	}
	for claimed := 0; claimed < n; claimed += size {
		r.claim(min(size, n-claimed), now+int64(claimed)*r.tick/int64(n))
	}
}

// claim visits the origins that the policy picks for n slots. All are picked before the first is visited, so
// outcomes of this claim do not change the choice; touch reads the states of the next ones ahead, for speed only.
func (r *run) claim(n int, now int64) {
	picked := policy.Pick(r.policy, r.queues, now, n, r.counts, func(c policy.Candidate) bool { return r.accept(c.Key, now) })
	for _, c := range picked {
		r.counts.ServedBy[c.Place.Pool]++
	}
	r.pace = r.pace.Add(len(picked), now)
	r.counts.PerDay = r.pace.PerDay
	r.queues.finishPick(picked)
	for i, c := range picked {
		if i%touchAhead == 0 {
			r.touch(picked[i:min(i+touchAhead, len(picked))])
		}
		r.visit(int(c.Key), now)
	}
}

// touchAhead is how many origins touch loads at once.
const touchAhead = 16

// touch reads a word of each cache line of origins that are visited next. Their loads from
// memory then overlap; without it a simulation of 10^6 origins waits for one after the other,
// which took a quarter of its time.
func (r *run) touch(picked []policy.Candidate) {
	sum := int64(0)
	for _, c := range picked {
		o, s := &r.origins[c.Key], &r.states[c.Key]
		sum += o.born + o.switches + int64(o.host)
		sum += s.Key + s.Created + s.LastVisit + s.Target + s.NotBefore + int64(s.Recent[len(s.Recent)-1])
	}
	r.touched = sum
}
