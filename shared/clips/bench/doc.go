// Package bench measures how well, and at what cost, a method finds clips in the
// sets of package set.
//
// A Method takes clips and finds them in an episode. Run builds the index of the
// method, searches every episode of a set with it, and scores the findings:
//
//   - A finding is a hit if it names the clip that is played there, within ±tolerance
//     of its start. Each insertion and each finding counts once. If the head of the
//     clip is cut, the start of the whole clip and the start of its sound are both
//     right.
//   - A finding of another clip of the same class (set.Relation), at the offset that
//     the relation states, is a hit if the played clip itself is not found there.
//     Otherwise it is neither right nor wrong. If the clips of a class share a loop
//     (set.Clip.Loops), finding one wherever another one is played is neither right
//     nor wrong.
//   - Every other finding is wrong.
//
// Cost is the CPU time of this process, user and system. Decoding is measured
// separately, and all methods get the same decoded sound.
//
// Two methods are here for comparison. Exact, the correlation of package exact, is
// the reference. Cosine is the sample-by-sample search that Leasehold was written to
// replace. The package tunes no method.
package bench
