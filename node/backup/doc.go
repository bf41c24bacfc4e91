// Package backup copies what a data folder cannot make again into a folder of its
// own, and back.
//
// Invariants:
//   - A backup is there whole or not at all: it is written under another name,
//     synced, and then renamed.
//   - The parts are copied in the order in which they are given. A coordinator
//     gives its spaces first and its catalog after them, so that what a restored
//     one does again was at most done before.
//   - The file BACKUP lists every other file with its size and checksum; a restore
//     that finds something else fails with fault.ErrCorrupt and changes nothing.
//
// Each part copies itself, also while it is in use.
package backup

// Manifest is the file that lists the files of a backup.
const Manifest = "BACKUP"
