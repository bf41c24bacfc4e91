// Package fetch reads all external content: feeds, episodes, clips. Everything that a feed
// names is untrusted until this package has checked it.
//
// Invariants:
//
//   - Only http, https and file URLs are fetched. No connection is opened to a private,
//     loopback, link-local, multicast, shared or reserved address that the operator did
//     not allow. The dialled address is checked, so that changing DNS answers, unusual
//     spellings of addresses, and redirects are all covered. Proxy environment
//     variables are ignored, because a proxy would dial without these checks.
//   - A local file is opened only below a folder that the operator allowed, and never
//     through a link that leads out of it; only regular files are read.
//   - Everything is bounded: bytes after decoding, the ratio by which an encoded body
//     grows, time without progress, redirects, header size, the cache.
//   - A partial file never has the name of a complete one. The cache is content-addressed
//     (DIR/sha256/ab/abcdef…) and least-recently-used; an open File is not evicted.
//
// The package does not interpret content (an HTML page is accepted like an MP3), follow
// playlists, send credentials other than those in the URL and the token of Page, or copy local files. A process
// that can write to an allowed folder can change a file between Fetch and its use; the hash
// shows it.
//
// Only one Fetcher at a time may use a cache folder; the caller holds the lock on the data
// folder that contains it.
//
// Errors name the URI and wrap a kind: fault.ErrInvalid if the scheme, the address or the
// folder is refused, fault.ErrNotFound (no such file, 404, 410), fault.ErrUnavailable if a
// retry may succeed (5xx, connections, stalls), fault.ErrTooLarge, fault.ErrCorrupt if the
// content does not have its hash, fault.ErrOverloaded if the disk is full, fault.ErrClosed.
package fetch
