// Package fingerprint stores the landmarks and the sound of episodes, so that a search for a
// new clip in a whole archive fetches and decodes no episode again.
//
// An episode has two files, named after the hash of its key, such as the hash of the recording.
// One holds the landmarks, about 2 MB an hour. The other holds the sound at 8 kHz and 16 bits,
// 58 MB an hour; a search reads a few windows of it to verify candidates. If the sound was
// evicted, the caller can decode the recording again. A search rarely needs the sound, because
// most clips occur in few episodes.
//
// Landmarks are delta-coded. The landmarks of one peak form a group: the frames since the group
// before as a varint, the number of landmarks, the bin, and two bytes for each landmark. A head
// of 24 bytes has the format, its Version, the number of samples, and the check sum of the rest.
// An entry that has another version, or was cut or changed, counts as missing: Get removes it,
// and the caller makes it again.
//
// Search finds the landmarks of one clip in many episodes at once. For it the Store builds segments of
// package inverted, one for each 32 hours of entries, as Put adds them.
//
// A Store has a limit in bytes. It evicts sounds before landmarks before segments, and the least
// recently used first. Many goroutines may use a Store, but only one process at a time may own a folder.
// Put computes landmarks from the samples as rounded to 16 bits, and a search reads the stored
// samples, so the first search of an episode finds the same as all later ones.
package fingerprint
