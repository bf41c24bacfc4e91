// Package index is the inverted index of all clips. It maps each landmark hash to the
// clips, speeds and frames in which the hash occurs.
//
// Each clip is indexed in nine variants, played at speeds changed by 0, ±1, ±2, ±3 and ±4 %,
// because a hash does not survive a change of 1 %. A clip below 2 s is indexed in seventeen
// variants, one every ½ %, because it has too few landmarks to lose half of them between two
// variants; it is also indexed at two alignments of the frames. Of each variant the strongest
// landmarks are indexed, about half of those of a second, and fewer of a longer clip; all if the
// clip is plain. All variants share one range of positions, counted in frames of 8 ms, and each
// variant owns a part of the range. A posting is one position, of 4 bytes, and so identifies both
// the variant and the frame.
//
// An Index is one image, with the same bytes in memory and in a file. Write stores the image,
// and Open maps it, so that many processes share one copy and starting costs no more than a
// check sum. The image is little-endian. Its first bytes name the format and its Version,
// which must be raised if hashes or variants change. Open fails with a *VersionError if the file has
// another version, and with fault.ErrCorrupt if the file was cut or changed.
//
// A clip of 5 s takes about 10 KB, and 80 KB of samples of 16 bits, which are not read
// until the clip is verified. A Builder buffers some 16 MB, however many clips there are. It
// moves the rest to files, the postings in sorted runs, which Build merges.
//
// An Index never changes, and many goroutines may use it at once. A Builder is for one goroutine.
package index
