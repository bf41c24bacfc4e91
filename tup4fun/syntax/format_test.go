package syntax_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/syntax"
)

const rough = `// Two of them.
const N = 2, symbol hungry, full, Fork = (R, INF, {(1),(2)}) // forks
, A=[1,2]
---
par N*proc Phil(i) = var x,y; loop true -> // for ever
   wait: Fork.get(i);Fork.get(i%N+1); Fork.put(i) // back
   ;if count(Fork)=0&!(A[0]>(1)|x=y) -> skip [] else -> atomic{A[1]:=-(x+1)*2; Fork.put(i%N+1)} fi pool
// the other
[] Fork.query("odd", _) rap
---
deadlockfree except Phil.wait; bound Fork<=N;
invariant p: forall i in 1..N: count(Fork,(i)) <= 1 -> (exists j in {1,2}: j=i);
ltl q: []((put(Fork,(1)) -> <>get(Fork,1)) & (true U (false W true))) under weakfair; // end
`

const smooth = `// Two of them.
const N = 2,
symbol hungry,
symbol full,
Fork = (R, INF, {(1), (2)}), // forks
A = [1, 2]
---
par
   N * proc Phil(i) =
      var x, y;
      loop true -> // for ever
         wait: Fork.get(i);
         Fork.get(i % N + 1);
         Fork.put(i); // back
         if count(Fork) = 0 & !(A[0] > 1 | x = y) ->
            skip
         [] else ->
            atomic {
               A[1] := -(x + 1) * 2;
               Fork.put(i % N + 1)
            }
         fi
      pool
[]
   // the other
   Fork.query("odd", _)
rap
---
deadlockfree except Phil.wait;
bound Fork <= N;
invariant p: forall i in 1..N: count(Fork, i) <= 1 -> exists j in {1, 2}: j = i;
ltl q: [] ((put(Fork, 1) -> <> get(Fork, 1)) & (true U false W true)) under weakfair; // end
`

func TestFormatHasOneForm(t *testing.T) {
	t.Parallel()
	got, err := syntax.Format("m", rough)
	require.NoError(t, err)
	require.Equal(t, smooth, got)
	again, err := syntax.Format("m", got)
	require.NoError(t, err)
	require.Equal(t, got, again)
}

func TestFormatRefusesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	_, err := syntax.Format("m", "par skip")
	require.ErrorContains(t, err, "m:1:9: expected ; or [] or rap")
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{ // short seeds, because the fuzzer minimizes each new input before the next
		"x=0---", "---\n\n---\n", "par skip [] 2 * proc P(i) = x := i rap", "loop x>0 -> skip pool // c",
		"const N = 2, symbol a\n---\nskip\n---\nbound S<=N;", "atomic { A[1] := -(x+1) * 2 }",
		"skip\n---\nltl q: []((put(S,(1)) -> <>true) & (true U false));",
	} {
		f.Add(seed)
	}
	f.Add("S = (Q, 3, {(1, \"a\")}), x = -1\n---\ndo x < 3 -> x := x + 1 od; S.getp(?x)")
	f.Fuzz(func(t *testing.T, src string) {
		p, err := syntax.Parse("m", src)
		if err == nil {
			syntax.Warn(p)
		}
		once, err := syntax.Format("m", src)
		if err != nil {
			return
		}
		twice, err := syntax.Format("m", once)
		require.NoError(t, err, once)
		require.Equal(t, once, twice)
		if p != nil {
			q, again := syntax.Parse("m", once)
			_, first := syntax.Parse("m", src)
			require.Equal(t, first == nil, again == nil, "%v / %v", first, again)
			require.Len(t, q.Procs, len(p.Procs))
			require.Len(t, q.Props, len(p.Props))
		}
	})
}

func TestBoxesAreFormattedEachForItself(t *testing.T) {
	t.Parallel()
	b, err := syntax.Boxes{Init: "// forks\nFork=(R,2,{(1)}), x = 0 // here\n// end", Program: "// eat\nx:=1 // one"}.Format()
	require.NoError(t, err)
	require.Equal(t, "// forks\nFork = (R, 2, {(1)}),\nx = 0 // here\n// end\n", b.Init)
	require.Equal(t, "// eat\nx := 1 // one\n", b.Program)
	_, err = syntax.Boxes{InitFile: "i", Init: "x = ", Program: "skip"}.Format()
	require.ErrorContains(t, err, "i:1:4: ")
}
