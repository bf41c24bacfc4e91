// Package codec is how facts of a journal are written as bytes: each as a key,
// which identifies the subject of the fact, and a value, which has the rest. A later
// value of the same key replaces the earlier one.
//
// Invariants:
//   - Keys of one kind of fact share their first byte, and the keys of one session's answers their prefix, so that a
//     store ordered by key can drop them as a range.
//   - Encoding what was decoded yields the same bytes; decoding what was encoded
//     yields an equal fact. Decoding never panics and allocates in proportion to
//     what it is given.
//   - The format has a number, Version. A change of the format raises it.
//
// Facts that only take something away (Gone, Deleted, Ended, Forgotten) have no encoding:
// they are the absence of the key that they name. Nothing here does I/O.
package codec

// Version is the number of the format that this package reads and writes.
// Those before 4 were never released.
const Version = 4
