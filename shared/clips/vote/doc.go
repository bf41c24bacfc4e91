// Package vote finds the places where landmarks of a clip agree: candidates. Most candidates are
// chance, but each costs only microseconds.
//
// Each landmark of the episode votes for each place of each variant that has the same
// hash: the vote is for the frame where the variant would have begun. First, in Counter, votes are counted
// in cells of 32 frames (256 ms) of each variant's own; where two neighbouring cells
// hold enough, Refiner takes the landmarks themselves, and counts them in cells of 5 frames
// (40 ms) that may lie anywhere, at the variant's own pace and at others, because a change
// of tempo or of pitch alone leaves hashes of one speed at the pace of another.
//
// Counter streams: a beginning is decided as soon as the variant would have ended. Its memory is 4 bytes for each vote
// of half a minute, and at most 8 for each cell; a clip of 5 s has about 1,400 cells. Decisions depend
// on the landmarks and the variant alone: not on other clips, and not on where the episode was
// cut into stretches.
package vote
