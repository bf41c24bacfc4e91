package policy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// fixedQueues are queues of candidates in order. They count how often each is read.
type fixedQueues struct {
	queues map[Queue][]Candidate
	reads  int
}

func (f *fixedQueues) Of(p Pool) (all []Queue) {
	for q := range f.queues {
		if q.Pool == p {
			all = append(all, q)
		}
	}
	return all
}

func (f *fixedQueues) Next(q Queue, back bool) (c Candidate, ok bool) {
	f.reads++
	all := f.queues[q]
	if len(all) == 0 {
		return c, false
	}
	at := 0
	if back {
		at = len(all) - 1
	}
	c = all[at]
	f.queues[q] = slices.Delete(slices.Clone(all), at, at+1)
	return c, true
}

func (f *fixedQueues) Quality(int32) Quality { return Quality{} }

// fixedPolicy has fixed shares; the worth of a place is its ref, negated.
type fixedPolicy struct {
	Policy
	shares, refill []Share
	asked          []int // the slots that were asked for
	picked         []int // that the counts had
}

func (p *fixedPolicy) Worth(place Place, _ Quality, _ int64) float64 { return -float64(place.Ref) }

func (p *fixedPolicy) Shares(n int, c Counts) (shares, refill []Share) {
	p.asked = append(p.asked, n)
	sum := 0
	for _, k := range c.Picked {
		sum += k
	}
	p.picked = append(p.picked, sum)
	return p.shares, p.refill
}

// waiting are candidates in one queue for each pool, whose keys and refs are those given.
func waiting(byPool map[Pool][]int64) *fixedQueues {
	f := &fixedQueues{queues: map[Queue][]Candidate{}}
	for pool, refs := range byPool {
		for _, ref := range refs {
			place := Place{Pool: pool, Ref: ref}
			f.queues[place.Queue()] = append(f.queues[place.Queue()], Candidate{Key: ref, Place: place})
		}
	}
	return f
}

func TestAPickFillsTheSharesThenTheRefillAndAsksAgainWhileItTakesSome(t *testing.T) {
	t.Parallel()
	const a, b = Pool(1), Pool(2)
	type picked struct {
		key    int64
		refill bool
	}
	share := func(n int, pools ...Pool) Share { return Share{Pools: pools, N: n} }
	for name, c := range map[string]struct {
		shares, refill []Share
		n              int
		accept         func(Candidate) bool
		want           []picked
		asked          []int
	}{
		"shares only":               {[]Share{share(2, a), share(1, b)}, nil, 3, nil, []picked{{1, false}, {3, false}, {2, false}}, []int{3}},
		"shares of more than n":     {[]Share{share(2, a), share(9, b)}, nil, 3, nil, []picked{{1, false}, {3, false}, {2, false}}, []int{3}},
		"merged":                    {[]Share{share(4, a, b)}, nil, 4, nil, []picked{{1, false}, {2, false}, {3, false}, {4, false}}, []int{4}},
		"a second round":            {[]Share{share(1, a), share(1, b)}, nil, 4, nil, []picked{{1, false}, {2, false}, {3, true}, {4, true}}, []int{4, 2}},
		"a refill":                  {[]Share{share(1, a), share(0, b)}, []Share{{Pools: []Pool{b}}}, 3, nil, []picked{{1, false}, {2, true}, {4, true}}, []int{3}},
		"all that wait":             {[]Share{share(9, b)}, []Share{{Pools: []Pool{a}}}, 99, nil, []picked{{2, false}, {4, false}, {6, false}, {1, true}, {3, true}, {5, true}}, []int{99, 93}},
		"from the back":             {[]Share{{Pools: []Pool{a}, N: 2, Back: true}, share(9, a)}, nil, 3, nil, []picked{{5, false}, {3, false}, {1, false}}, []int{3}},
		"from the front, then back": {[]Share{share(1, a), {Pools: []Pool{a}, N: 9, Back: true}}, nil, 3, nil, []picked{{1, false}, {5, false}, {3, false}}, []int{3}},
		"some are refused": {[]Share{share(3, a, b)}, nil, 3, func(c Candidate) bool { return c.Key > 2 },
			[]picked{{3, false}, {4, false}, {5, false}}, []int{3}},
		"at most so many of a refill": {[]Share{share(1, a)}, []Share{{Pools: []Pool{a}, Most: 2}, {Pools: []Pool{b}}}, 4, nil,
			[]picked{{1, false}, {3, true}, {2, true}, {4, true}}, []int{4}},
		"none":     {nil, nil, 3, nil, nil, []int{3}},
		"no slots": {[]Share{share(1, a)}, nil, 0, nil, nil, nil},
	} {
		p := &fixedPolicy{shares: c.shares, refill: c.refill}
		q := waiting(map[Pool][]int64{a: {1, 3, 5}, b: {2, 4, 6}})
		var got []picked
		for _, x := range Pick(p, q, 0, c.n, Counts{}, c.accept) {
			got = append(got, picked{x.Key, x.Refill})
			require.EqualValues(t, -x.Key, x.Value, name)
		}
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.asked, p.asked, name)
		for i := range p.asked {
			require.Equal(t, c.n-p.asked[i], p.picked[i], name)
		}
	}
}

// What a share read and did not take is there for the next one, from either end, without another read.
func TestACandidateThatAShareLeavesIsForTheNextOne(t *testing.T) {
	t.Parallel()
	const a = Pool(1)
	back := Share{Pools: []Pool{a}, N: 1, Back: true}
	front := Share{Pools: []Pool{a}, N: 1}
	for name, c := range map[string]struct {
		shares []Share
		want   []int64
	}{
		"front, front":             {[]Share{front, front, front}, []int64{1, 3, 5}},
		"back, back":               {[]Share{back, back, back}, []int64{5, 3, 1}},
		"front, back, front":       {[]Share{front, back, front}, []int64{1, 5, 3}},
		"back, front, back":        {[]Share{back, front, back}, []int64{5, 1, 3}},
		"front, back, back, front": {[]Share{front, back, back, front}, []int64{1, 5, 3}},
	} {
		q := waiting(map[Pool][]int64{a: {1, 3, 5}})
		var got []int64
		for _, x := range Pick(&fixedPolicy{shares: c.shares}, q, 0, 3, Counts{}, nil) {
			got = append(got, x.Key)
		}
		require.Equal(t, c.want, got, name)
	}
}

func TestTheHeapGivesTheLargestValueAndOfEqualOnesTheSmallestKey(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		var h candidateHeap
		for key := range int64(n) {
			h = append(h, Candidate{Key: key, Value: float64(rng.IntN(10))})
		}
		rng.Shuffle(n, func(i, j int) { h[i], h[j] = h[j], h[i] })
		want := slices.Clone(h)
		slices.SortFunc(want, func(a, b Candidate) int {
			if a.Value > b.Value || a.Value == b.Value && a.Key < b.Key {
				return -1
			}
			return 1
		})
		h.init()
		var got candidateHeap
		for len(h) > 0 {
			got = append(got, h[0])
			h[0] = h[len(h)-1]
			h = h[:len(h)-1]
			h.down(0)
		}
		require.Equal(t, []Candidate(want), []Candidate(got))
	}
}
