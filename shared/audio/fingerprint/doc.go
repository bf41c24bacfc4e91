// Package fingerprint keeps what a search needs of an episode, so that a new clip is
// looked for in a whole archive without fetching or decoding it again.
//
// Of an episode two files are kept, named after its content's hash: its peaks, about
// 0.4 MB an hour, of which all landmarks are made, and its sound at 8 kHz and 16 bits,
// 58 MB an hour, of which some windows are read to verify candidates. Where the sound is
// gone, it can be had again from the recording; mostly it is not needed, since most clips
// are in few episodes.
//
// The peaks are delta-coded: of each, the frames since the one before as a varint, and
// its bin. A head of 32 bytes names the format, its Version, the number of samples and of
// peaks, and the check sum of the rest. An entry that is of another version, cut or
// changed is no entry: it is taken away, and made again.
//
// A Store keeps within a number of bytes: sounds go first, those used longest ago; then
// peaks. It may be used by many goroutines, but only one process at a time owns a folder.
// What is read is what was kept, to 16 bits: so a first search reads what it has just
// kept, and finds what all later ones do.
package fingerprint
