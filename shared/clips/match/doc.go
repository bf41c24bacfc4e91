// Package match finds every place where clips are played in an episode while it streams:
// thousands of clips at once, at the levels and speeds and under the sounds of real shows.
//
// The steps are packages of their own:
//
//	landmark   the episode's peaks and their pairs
//	vote       where the landmarks of a clip agree: candidates
//	verify     the waveform there, block by block
//	match      which candidates are findings, and the order in which it emits them
//
// A candidate is a finding if its score reaches the threshold and most of the clip is
// there, or a part of a second or more. If the waveform of a tune is unclear, or its tempo or
// pitch was changed, the landmarks decide. A clip that repeats itself is not found again a beat
// later, and a clip that fits at two speeds is found once; a clip inside a longer one is found,
// and marked. Clips with next to no landmarks, such as a pure tone, and clips made of a few
// tones, such as a gong, are searched by plain correlation too.
//
// Findings do not depend on the order and number of clips (except for the mark), on the pieces
// in which the episode comes, or on whether its landmarks are computed or were stored (Find,
// FindKnown), because clips are searched independently of each other.
//
// # Cost
//
// Per hour of episode about 2 s for its spectrum, 1 s for a thousand clips' votes and 1 ms for each
// verified place (docs/benchmarks.md). Memory holds the index; 1 KB for each clip of 5 s; and the
// last minute of the episode plus the length of the longest clip: 6 MB. It does not grow with the
// episode. The package starts no goroutine.
package match
