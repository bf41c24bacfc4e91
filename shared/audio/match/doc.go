// Package match finds every place where clips are played in an episode, as it streams by:
// thousands of clips at once, at levels, speeds and under sounds that real shows have.
//
// The steps are packages of their own:
//
//	landmark   the episode's peaks and their pairs
//	vote       where those of a clip come together: candidates
//	verify     the waveform there, block by block
//	match      which candidates are findings, and in which order they are told
//
// A candidate is a finding if its score reaches the threshold and most of the clip is
// there, or a part of a second or more; of a tune whose waveform says little, or whose tempo or
// pitch was changed, the landmarks decide. A clip that repeats itself is not found again a beat later, and one
// at two speeds is found once; a clip inside a longer one is found, and marked. Clips
// with next to no landmarks, such as a pure tone, and clips made of a few tones, such as a gong,
// are looked for by plain correlation too.
//
// Findings are the same whatever the order and number of clips (but for the mark), the
// pieces in which the episode comes, and whether its landmarks are found or were kept (Find,
// FindKnown): nothing of one clip depends on another.
//
// # Cost
//
// Per hour of episode about 2 s for its spectrum, 1 s for a thousand clips' votes and 1
// ms for each place that is looked at (docs/benchmarks.md). Memory is that of the index;
// 1 KB for each clip of 5 s; and the last minute of the episode and as much of it as the
// longest clip: 6 MB. It does not grow with the episode. No goroutine is started.
package match
