// Package inverted is an index over the landmarks of many episodes: a segment lists, for each
// hash, where it occurs in some tens of hours of sound. A search for one new clip reads the lists
// of its hashes, instead of all landmarks of every episode.
//
// A segment is one immutable file, mapped into memory:
//
//	head         24 bytes: format, version, check sum, number of episodes
//	episodes     name of 32 bytes, samples, flags
//	directory    where the list of each of the 2^20 hashes begins: 4 MB
//	lists        of each hash the frames, ascending, as differences in varints
//
// A frame counts from the start of the segment: the episodes follow each other. An hour takes
// about 2.3 MB, and the directory once 4 MB.
//
// Landmarks yields the same landmarks in the same order as the entry of the episode in package
// fingerprint. So a search of a segment finds the same as a search of each entry.
//
// Build needs 16 MB for any number of hours, because it reads the episodes once for each range of
// hashes. Landmarks needs 24 bytes for each landmark that it yields of one segment, and refuses a
// set of hashes that has more than an eighth of all landmarks (Broad); then reading the
// entries takes no longer.
package inverted
