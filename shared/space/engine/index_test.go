package engine

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// indexOf returns an index in the order of places that counts its memory.
func indexOf() *index {
	x := newIndex(maphash.MakeSeed(), func(e *entry) key { return key{Minor: e.Place} }, &memory.Account{Budget: memory.New(1 << 40)})
	return &x
}

// entriesOf returns n entries of three fields each. The first field differs, the second has ten
// values, and the third is the same.
func entriesOf(n int) (all []*entry) {
	for i := range n {
		all = append(all, &entry{Ref: int64(i + 1), Place: int64(i + 1), Tuple: tuple.New(int64(i), int64(i%10), "x")})
	}
	return all
}

// placesOf returns the places of the matches of a template, as the index finds them.
func placesOf(x *index, p tuple.Template) (places []int64) {
	for _, e := range x.matches(p) {
		places = append(places, e.Place)
	}
	return places
}

func TestAnIndexFindsCountsAndGoesOnInOrderWhateverItsSize(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	any := tuple.Formal{Type: tuple.Int64}
	templates := []tuple.Template{
		tuple.Match(any, any, tuple.AnyString), tuple.Match(any, int64(3), tuple.AnyString), tuple.Match(any, int64(3), "x"), tuple.Match(int64(7), any, tuple.AnyString),
		tuple.Match(any, any, "x"), tuple.Match(any, any, "y"), tuple.Match(int64(7), int64(7), "x"), tuple.Match(int64(7), int64(8), "x"), tuple.Match("x"),
	}
	for _, size := range []int{0, 1, 9, indexFrom - 1, indexFrom, 40, 200} {
		x, all := indexOf(), entriesOf(size)
		present := map[int64]*entry{}
		check := func() {
			for _, p := range templates {
				var want []int64
				for _, e := range all {
					if present[e.Ref] != nil && p.Matches(e.Tuple) {
						want = append(want, e.Place)
					}
				}
				msg := fmt.Sprint(p, " of ", size)
				require.Equal(t, want, placesOf(x, p), msg)
				require.Equal(t, len(want), x.count(p), msg)
				if c := x.candidates(p); c.len() > 0 {
					require.Equal(t, c.at(c.len()-1), c.last(), msg)
				}
				if len(want) > 2 {
					var got []int64
					x.eachFrom(p, &entry{Place: want[1]}, func(e *entry) bool { got = append(got, e.Place); return len(got) < 2 })
					require.Equal(t, want[1:3], got, msg)
				}
			}
		}
		for _, i := range r.Perm(size) {
			x.add(all[i])
			present[all[i].Ref] = all[i]
			if i%16 == 0 {
				check()
			}
		}
		check()
		for _, i := range r.Perm(size) {
			x.remove(all[i])
			delete(present, all[i].Ref)
			if i%16 == 0 {
				check()
			}
		}
		check()
		require.EqualValues(t, bucketCost*len(x.buckets), x.memory.Budget.Used(), "of %d", size)
		for _, b := range x.buckets {
			for _, s := range b.shapes {
				require.Empty(t, s.one)
				require.Empty(t, s.many)
			}
		}
	}
}

// The first index is counted before it exists; each further one counts for each entry.
func TestAnIndexCountsItsMemory(t *testing.T) {
	t.Parallel()
	x, all := indexOf(), entriesOf(20)
	for _, e := range all {
		x.add(e)
	}
	shapes := []tuple.Template{tuple.Match(int64(7), tuple.AnyInt64, tuple.AnyString), tuple.Match(tuple.AnyInt64, int64(3), tuple.AnyString), tuple.Match(tuple.AnyInt64, tuple.AnyInt64, "x")}
	for n, want := range []int64{1, 1, 2, 3} {
		require.Equal(t, bucketCost+20*want*indexedBytes, x.memory.Budget.Used(), "%d shapes", n)
		if n < len(shapes) {
			x.count(shapes[n])
			x.count(shapes[n])
		}
	}
	for n, e := range all {
		x.remove(e)
		require.EqualValues(t, bucketCost+(19-n)*3*indexedBytes, x.memory.Budget.Used())
	}
}

func TestAFewEmptyBucketsAreKept(t *testing.T) {
	t.Parallel()
	x := indexOf()
	name := func(n int) *entry { return &entry{Ref: int64(n), Tuple: tuple.New(tuple.Opaque{Name: fmt.Sprint(n)})} }
	for n := range emptyBuckets + 3 {
		x.add(name(n))
	}
	for n := range emptyBuckets + 3 {
		x.remove(name(n))
		require.Len(t, x.buckets, max(emptyBuckets, emptyBuckets+2-n))
	}
	require.EqualValues(t, emptyBuckets*bucketCost, x.memory.Budget.Used())
}

// Of shapes whose fields are all actual in a template, the one with the most fields leaves the fewest
// candidates.
func TestTheClosestShapeHasTheMostFieldsOfATemplate(t *testing.T) {
	t.Parallel()
	b := &bucket{}
	for _, mask := range []tuple.Shape{0b0001, 0b0011, 0b0100, 0b1100} {
		b.shapes = append(b.shapes, &shape{mask: mask})
	}
	for mask, want := range map[tuple.Shape]tuple.Shape{0b0001: 0b0001, 0b0011: 0b0011, 0b0111: 0b0011, 0b0101: 0b0001, 0b0100: 0b0100, 0b1101: 0b1100, 0b1000: 0, 0b0010: 0} {
		s := b.closest(mask)
		require.Equal(t, want != 0, s != nil, "%b", mask)
		if s != nil {
			require.Equal(t, want, s.mask, "%b", mask)
		}
	}
}

func TestALabelFindsItsEntriesInOrderAndLeavesNothing(t *testing.T) {
	t.Parallel()
	withLabels := func(place int64, names ...string) *entry {
		return &entry{Ref: place, Place: place, Attributes: &space.Attributes{Labels: names}}
	}
	l := labels{rank: func(e *entry) key { return key{Minor: e.Place} }, sets: map[string]labelled{}}
	a, b, c := withLabels(1, "x", "x"), withLabels(3, "x", "y"), withLabels(2, "x")
	find := func(name string) (places []int64) {
		l.sets[name].candidates().ascend(nil, func(e *entry) bool { places = append(places, e.Place); return true })
		require.Equal(t, len(places), l.sets[name].candidates().len())
		return places
	}
	l.add(&entry{Ref: 9})
	l.add(a)
	require.Equal(t, []int64{1}, find("x"))
	l.add(b)
	l.add(c)
	require.Equal(t, []int64{1, 2, 3}, find("x"))
	require.Equal(t, []int64{3}, find("y"))
	require.Empty(t, find("z"))
	l.remove(b)
	require.Equal(t, []int64{1, 2}, find("x"))
	require.Empty(t, find("y"))
	l.remove(a)
	require.Equal(t, []int64{2}, find("x"))
	l.remove(c)
	l.remove(&entry{Ref: 9})
	require.Empty(t, l.sets)
}

// Waiters of one session may wait for templates of any shape.
func TestAWaitlistFindsTheOldestYoungerWaiterAndLeavesNothing(t *testing.T) {
	t.Parallel()
	l := newWaitlist(maphash.MakeSeed())
	templates := []tuple.Template{tuple.Match("a", int64(1)), tuple.Match("a", tuple.AnyInt64), tuple.Match(tuple.AnyString, tuple.AnyInt64), tuple.Match("b", tuple.AnyInt64), tuple.Match(tuple.AnyString)}
	var all []*waiter
	for age := int64(1); age <= 20; age++ {
		p := templates[age%5]
		w := &waiter{age: age, awaited: []space.Awaited{{Space: "s", Template: p}}}
		all = append(all, w)
		l.add(p, w)
	}
	for _, u := range []tuple.Tuple{tuple.New("a", int64(1)), tuple.New("a", int64(2)), tuple.New("b", int64(1)), tuple.New("c"), tuple.New(int64(1))} {
		for after := range int64(22) {
			var want *waiter
			for _, w := range all {
				if w.age > after && w.awaits(u) {
					want = w
					break
				}
			}
			require.Equal(t, want, l.next(u, after), "%s after %d", u, after)
		}
	}
	l.remove(tuple.Match("never"), all[0])
	for _, w := range all {
		require.NotEmpty(t, l.buckets)
		l.remove(w.awaited[0].Template, w)
		require.Nil(t, l.next(tuple.New("c"), 20))
	}
	require.Empty(t, l.buckets)
	require.Nil(t, l.next(tuple.New("c"), 0))
}

// Two values of a field may have the same hash. Then each entry is compared.
func TestEntriesWhoseHashesCollideAreCompared(t *testing.T) {
	t.Parallel()
	x, all := indexOf(), entriesOf(40)
	for _, e := range all {
		x.add(e)
	}
	p := tuple.Match(tuple.AnyInt64, int64(3), tuple.AnyString)
	want := []int64{4, 14, 24, 34}
	require.Equal(t, want, placesOf(x, p))
	for _, b := range x.buckets {
		s := b.closest(p.Shape())
		hash := tuple.Tuple(p).Hash(x.seed, s.mask)
		require.True(t, x.candidates(p).same)
		more := []*entry{
			{Ref: 101, Place: 101, Tuple: tuple.New(int64(101), int64(4), "x")},
			{Ref: 102, Place: 102, Tuple: tuple.New(int64(102), int64(3), "x")},
		}
		for n, e := range more {
			s.add(hash, e)
			require.False(t, x.candidates(p).same, "%d more", n+1)
		}
		require.Equal(t, append(slices.Clone(want), 102), placesOf(x, p))
		require.Equal(t, 5, x.count(p))
		for _, e := range append(more, all[3], all[13], all[23], all[33]) {
			s.remove(hash, e)
		}
		require.Nil(t, s.many[hash])
		require.Zero(t, x.count(p))
		for _, i := range []int{3, 13} { // their order is used again
			s.add(hash, all[i])
		}
		require.True(t, x.candidates(p).same)
		require.Equal(t, 2, x.count(p))
	}
}

func TestAWaiterWhoseHashCollidesIsPassedOver(t *testing.T) {
	t.Parallel()
	l := newWaitlist(maphash.MakeSeed())
	waiting := func(age int64, name string) *waiter {
		return &waiter{age: age, awaited: []space.Awaited{{Space: "s", Template: tuple.Match(name)}}}
	}
	other, first, second := waiting(1, "b"), waiting(2, "a"), waiting(3, "a")
	l.add(first.awaited[0].Template, other) // under the hash of another template
	require.Nil(t, l.next(tuple.New("a"), 0))
	for _, w := range []*waiter{first, second} {
		l.add(w.awaited[0].Template, w)
	}
	require.Same(t, first, l.next(tuple.New("a"), 0))
	require.Same(t, second, l.next(tuple.New("a"), 2))
	require.Nil(t, l.next(tuple.New("a"), 3))
}
