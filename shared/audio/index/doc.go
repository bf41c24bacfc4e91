// Package index is the inverted index of all clips: for each landmark hash, where it
// occurs in which clip at which speed.
//
// A clip is there in seven variants, played at 0, ±1, ±2 and ±3 % of speed, since a
// hash does not survive a change of 1 %; in thirteen, each ½ %, if it is below 2 s, because
// a short clip has too few landmarks to lose half of them between two variants. Every variant owns a stretch of one line of
// positions, counted in frames of 8 ms; a posting is one position, of 4 bytes, and tells
// both the variant and the frame. A clip below 2 s is also indexed at two
// alignments of the frames.
//
// An Index is one image in memory, the same in a file and built: Write puts it there,
// and Open maps it, so that many processes share one copy and starting costs no more
// than a check sum. Little-endian; the first bytes name the format and its Version,
// which changes with whatever changes hashes. Another version is a *VersionError, and a
// file that was cut or changed is fault.ErrCorrupt.
//
// It is about 35 KB a clip of 5 s, and 80 KB of samples, 16 bits each, which are read
// when a clip is verified and not before. A Builder holds some 16 MB, however many clips there
// are: what is beyond goes to files, postings in sorted runs, which Build merges.
//
// An Index never changes, and may be used by many goroutines at once; a Builder by one.
package index
