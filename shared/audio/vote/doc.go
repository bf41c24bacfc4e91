// Package vote finds where landmarks of a clip come together: candidates, of which
// most are chance, but none of which costs more than microseconds.
//
// Each landmark of the episode votes for each place of each variant that has the same
// hash: it says where the variant would have begun. First, in Counter, votes are counted
// in cells of 32 frames (256 ms) of each variant's own; where two neighbouring cells
// hold enough, Refiner looks at the very landmarks, and counts them in cells of 5 frames
// (40 ms) that may lie anywhere, at the variant's own pace and at others, since a change
// of tempo or of pitch alone leaves hashes of one speed at the pace of another.
//
// Counter streams: a beginning is decided as soon as the variant would have ended. Its
// memory is 1 byte for each cell: about 1 KB for each clip of 5 s. What is decided
// depends on the landmarks and the variant alone: not on other clips, and not on where
// the episode was cut into stretches.
package vote
