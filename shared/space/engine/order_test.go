package engine

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// slot is a value with its rank.
type slot struct {
	key
	value int
}

func rankOf(s slot) key { return s.key }

// Compares the order, a slice or a tree, with a slice sorted after each step, over random steps.
func TestOrderIsASortedSlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o := newOrder(rankOf)
		var naive []slot
		keys := rapid.Custom(func(t *rapid.T) key {
			return key{Major: rapid.Int64Range(-2, 2).Draw(t, "major"), Turn: rapid.Int64Range(-1, 1).Draw(t, "turn"), Minor: rapid.Int64Range(-20, 20).Draw(t, "minor")}
		})
		find := func(k key) (int, bool) {
			return slices.BinarySearchFunc(naive, k, func(s slot, k key) int { return s.Compare(k) })
		}
		insert := func(rt *rapid.T) {
			s := slot{keys.Draw(rt, "key"), rapid.Int().Draw(rt, "value")}
			o.insert(s)
			if i, found := find(s.key); found {
				naive[i] = s
			} else {
				naive = slices.Insert(naive, i, s)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"insert": insert, "insert again": insert, "and again": insert,
			"remove": func(rt *rapid.T) {
				k := keys.Draw(rt, "key")
				o.remove(slot{key: k})
				naive = slices.DeleteFunc(naive, func(s slot) bool { return s.key == k })
			},
			"clear": func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "really") == 0 {
					for _, s := range naive {
						o.remove(s)
					}
					naive = nil
				}
			},
			"ascend": func(rt *rapid.T) {
				from, most := keys.Draw(rt, "from"), rapid.IntRange(1, 50).Draw(rt, "most")
				var got, want []slot
				o.from(slot{key: from}, func(v slot) bool { got = append(got, v); return len(got) < most })
				i, _ := find(from)
				want = append(want, naive[i:min(len(naive), i+most)]...)
				require.Equal(rt, want, got)
				got = nil
				o.all(func(v slot) bool { got = append(got, v); return len(got) < most })
				require.Equal(rt, append([]slot(nil), naive[:min(len(naive), most)]...), got)
			},
			"": func(rt *rapid.T) { sameOrder(rt, o, naive) },
		})
	})
}

// sameOrder requires that an order has the values of a sorted list.
func sameOrder(rt *rapid.T, o *order[slot], naive []slot) {
	require.Equal(rt, len(naive), o.len())
	first, ok := o.first()
	require.Equal(rt, len(naive) > 0, ok)
	last, ok := o.last()
	require.Equal(rt, len(naive) > 0, ok)
	if ok {
		require.Equal(rt, naive[0], first)
		require.Equal(rt, naive[len(naive)-1], last)
	}
	for i, s := range naive {
		require.Equal(rt, s, o.at(i))
	}
}
