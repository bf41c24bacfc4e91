package bench

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/bench/set"
)

// example is a set whose clip b holds clip a at 1 s.
func example(played ...set.Insertion) (*set.Set, set.Episode) {
	e := set.Episode{DurationS: 60, Played: played}
	return &set.Set{
		Clips: []set.Clip{
			{ID: "a", Kind: set.Speech, DurationS: .8}, {ID: "b", Kind: set.Music, DurationS: 4}, {ID: "c", Kind: set.Effect, DurationS: 6},
		},
		Relations: []set.Relation{{Clip: "a", Within: "b", OffsetS: 1, Score: .9}},
		Episodes:  []set.Episode{e},
	}, e
}

func at(clip string, offsetS float64) set.Insertion {
	return set.Insertion{Clip: clip, OffsetS: offsetS, HeardS: offsetS, DurationS: 1, Speed: 1, Condition: "clean"}
}

func TestAFindingIsAHitWrongOrExplained(t *testing.T) {
	t.Parallel()
	cut := at("c", 10)
	cut.HeardS = 11.5
	for _, c := range []struct {
		name        string
		played      []set.Insertion
		found       []Found
		hits, wrong int
		aside       int
	}{
		{"nothing found", []set.Insertion{at("a", 5)}, nil, 0, 0, 0},
		{"within the tolerance", []set.Insertion{at("a", 5)}, []Found{{Clip: "a", OffsetS: 5.25}}, 1, 0, 0},
		{"beyond it", []set.Insertion{at("a", 5)}, []Found{{Clip: "a", OffsetS: 5.26}}, 0, 1, 0},
		{"another clip", []set.Insertion{at("a", 5)}, []Found{{Clip: "c", OffsetS: 5}}, 0, 1, 0},
		{"the same one twice", []set.Insertion{at("a", 5)}, []Found{{Clip: "a", OffsetS: 5}, {Clip: "a", OffsetS: 5.1}}, 1, 1, 0},
		{"twice in a row", []set.Insertion{at("a", 5), at("a", 5.2)}, []Found{{Clip: "a", OffsetS: 5.1}, {Clip: "a", OffsetS: 5.11}}, 2, 0, 0},
		{"a cut head, at the clip's start", []set.Insertion{cut}, []Found{{Clip: "c", OffsetS: 10}}, 1, 0, 0},
		{"a cut head, where it is heard", []set.Insertion{cut}, []Found{{Clip: "c", OffsetS: 11.5}}, 1, 0, 0},
		{"a clip inside another, both found", []set.Insertion{at("b", 5)}, []Found{{Clip: "b", OffsetS: 5}, {Clip: "a", OffsetS: 6}}, 1, 0, 1},
		{"a clip inside another, only that found", []set.Insertion{at("b", 5)}, []Found{{Clip: "a", OffsetS: 6}}, 1, 0, 0},
		{"a clip inside another, elsewhere", []set.Insertion{at("b", 5)}, []Found{{Clip: "a", OffsetS: 8}}, 0, 1, 0},
		{"a clip that holds the one played", []set.Insertion{at("a", 5)}, []Found{{Clip: "b", OffsetS: 4}}, 0, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, e := example(c.played...)
			all := tally(judge(s, e, c.found, slog.New(slog.DiscardHandler)))[0]
			require.Equal(t, len(c.played), all.Played)
			require.Equal(t, c.hits, all.Hits)
			require.Equal(t, c.wrong, all.Wrong)
			require.Equal(t, c.aside, all.Aside)
		})
	}
}

func TestClipsThatShareALoopAreNeitherRightNorWrongInEachOther(t *testing.T) {
	t.Parallel()
	s, e := example(at("b", 5))
	for i := range s.Clips {
		s.Clips[i].Class, s.Clips[i].Loops = "loop", true
	}
	all := tally(judge(s, e, []Found{{Clip: "c", OffsetS: 4.5}, {Clip: "c", OffsetS: 30}, {Clip: "b", OffsetS: 5.5}}, slog.New(slog.DiscardHandler)))[0].Tally
	require.Equal(t, Tally{Played: 1, Wrong: 2, Aside: 1}, all, "elsewhere it is wrong, and so is a clip itself when it is shifted")
}

func TestFiguresOfATally(t *testing.T) {
	t.Parallel()
	tally := Tally{Played: 10, Hits: 6, Wrong: 2, errors: []float64{.006, .001, .002, .003, .004, .005}}
	require.InDelta(t, .75, tally.Precision(), 1e-9)
	require.InDelta(t, .6, tally.Recall(), 1e-9)
	require.InDelta(t, 2*.75*.6/1.35, tally.F1(), 1e-9)
	require.InDelta(t, 4, tally.ErrorMs(.5), 1e-9)
	require.InDelta(t, 6, tally.ErrorMs(.95), 1e-9)
	require.Zero(t, Tally{}.ErrorMs(.5))
	low, high := tally.RecallRange()
	require.InDelta(t, .313, low, .001, "Wilson's interval of 6 in 10")
	require.InDelta(t, .832, high, .001)
}

func TestEveryInsertionIsInOneLineOfEachTable(t *testing.T) {
	t.Parallel()
	third := at("c", 20)
	third.Condition = "a third"
	s, e := example(at("a", 5), at("b", 10), third)
	groups := tally(judge(s, e, []Found{{Clip: "a", OffsetS: 5}, {Clip: "c", OffsetS: 20.5}, {Clip: "b", OffsetS: 50}}, slog.New(slog.DiscardHandler)))
	sums := map[string]Tally{}
	for _, g := range groups {
		sum := sums[g.By]
		sum.Played, sum.Hits, sum.Wrong = sum.Played+g.Played, sum.Hits+g.Hits, sum.Wrong+g.Wrong
		sums[g.By] = sum
	}
	require.Equal(t, Tally{Played: 3, Hits: 1, Wrong: 2}, sums["length"])
	require.Equal(t, Tally{Played: 3, Hits: 1, Wrong: 2}, sums["kind"])
	require.Equal(t, Tally{Played: 3, Hits: 1, Wrong: 1}, sums["condition"], "what is played nowhere has no condition")
	require.Equal(t, Most, groups[1].Name)
	require.Equal(t, 2, groups[1].Played)
	require.Equal(t, 1, groups[1].Wrong)
}

func TestWhatAPartOfASetLeavesOutIsNotWrong(t *testing.T) {
	t.Parallel()
	s, _ := example(at("a", 5), at("b", 10))
	part := s.Part(1, 0)
	require.Len(t, part.Episodes[0].Played, 1)
	all := tally(judge(part, part.Episodes[0], []Found{{Clip: "a", OffsetS: 5}, {Clip: "a", OffsetS: 11}}, slog.New(slog.DiscardHandler)))[0]
	require.Equal(t, 1, all.Hits)
	require.Zero(t, all.Wrong, "a is heard within b, which is not asked for")
}
