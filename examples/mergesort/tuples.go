package main

import "leasehold/shared/tuple"

// sortedRun is a sorted run: a tuple ("run", length, the numbers as JSON).
type sortedRun struct {
	Length  int64
	Numbers string // JSON
}

func (r sortedRun) encode() tuple.Tuple { return tuple.New("run", r.Length, r.Numbers) }

func decodeRun(t tuple.Tuple) sortedRun { return sortedRun{Length: t.Int64(1), Numbers: t.Str(2)} }

var anyRun = tuple.Match("run", tuple.AnyInt64, tuple.AnyString)

// pair is two runs that a worker holds.
type pair struct {
	FirstRef, SecondRef int64
	First, Second       string // numbers as JSON
}

func (p pair) encode() tuple.Tuple { return tuple.New(p.FirstRef, p.SecondRef, p.First, p.Second) }

func decodePair(t tuple.Tuple) pair {
	return pair{FirstRef: t.Int64(0), SecondRef: t.Int64(1), First: t.Str(2), Second: t.Str(3)}
}

// mergeArgs are the arguments of sort.merge: the refs of the two runs, and the run
// that replaces them.
type mergeArgs struct {
	Refs   [2]int64
	Merged sortedRun
}

func (m mergeArgs) encode() tuple.Tuple {
	return tuple.New(m.Refs[0], m.Refs[1], m.Merged.Length, m.Merged.Numbers)
}

var anyMergeArgs = tuple.Match(tuple.AnyInt64, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyString)

func decodeMergeArgs(t tuple.Tuple) mergeArgs {
	return mergeArgs{Refs: [2]int64{t.Int64(0), t.Int64(1)}, Merged: sortedRun{Length: t.Int64(2), Numbers: t.Str(3)}}
}
