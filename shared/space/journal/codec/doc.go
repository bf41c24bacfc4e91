// Package codec is how facts of a journal are written as bytes: each as a key,
// which says what the fact is about, and a value, which says the rest. A later
// value of the same key replaces the earlier one.
//
// Invariants:
//   - Keys of one kind of fact share their first byte, and those of one session's
//     answers their prefix, so that a store ordered by key can drop them as a range.
//   - Encoding what was decoded yields the same bytes; decoding what was encoded
//     yields an equal fact. Decoding never panics and allocates in proportion to
//     what it is given.
//   - The format has a number, Version. Whoever changes what is written raises it,
//     and says how the older one is read.
//
// Facts that only take something away (Gone, Ended, Forgotten) have no encoding:
// they are the absence of what they name. Nothing here does I/O.
package codec

// Version is the number of the format that this package reads and writes.
const Version = 1
