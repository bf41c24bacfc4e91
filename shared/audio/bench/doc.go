// Package bench measures how well, and at what cost, a method finds clips in the
// sets of package set.
//
// A Method is anything that takes clips and finds them in an episode. Run builds
// its index, has it search every episode of a set, and scores what it found:
//
//   - A hit is the same clip within ±tolerance of where it is played; each
//     insertion and each finding counts once. Where a head is cut, the start of the
//     whole clip and the start of what is heard are both right.
//   - A clip of the same class (set.Relation) at the place that the relation says is
//     a hit too, if the clip itself is not found there; else it is neither right nor
//     wrong. Clips of a class that shares a loop (set.Clip.Loops) are neither right
//     nor wrong anywhere where another one of it is played.
//   - Everything else that is found is wrong.
//
// Cost is CPU time of this process, user and system. Decoding is measured apart;
// all methods get the same decoded sound.
//
// Two methods are here for comparison: Exact, the correlation of package exact, is
// the oracle; Cosine is the sample-by-sample search that Leasehold set out to
// replace. Nothing is tuned here.
package bench
