// Package segment writes and reads segments: immutable files with the text of blobs, an
// index of it by trigrams, and symbols and other facts about each blob.
//
// The text of a blob is cut at line feeds into chunks of at most 4 KiB (16 KiB if
// compressed); a longer line is one chunk. A trigram is three successive bytes of a line
// after code.Fold. For each trigram the segment lists the chunks that have it, so a
// text of a line is only in chunks that all of its trigrams list.
//
// The same blobs in the same order give the same bytes. A segment file is named by their
// SHA-256. Everything but the text is checked when a segment is opened, and a chunk of
// text when it is first read; damage is reported as fault.ErrCorrupt with the name
// of the file. The decoder accepts any bytes, and never reads outside of them.
//
// A segment is less than 4 GiB. Package embedded decides which segments exist.
package segment
