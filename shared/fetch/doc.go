// Package fetch brings in all that comes from outside: feeds, episodes, clips.
// Whatever a feed names is hostile until this package has looked at it.
//
// What it keeps true:
//
//   - Only http, https and file are fetched. No connection is opened to a
//     private, loopback, link-local, multicast, shared or reserved address that
//     the operator did not name: the address that is *dialled* is checked, so
//     that a name that changes its mind, an odd spelling of an address and a
//     redirect are all caught. Proxy environment variables are not honoured,
//     since a proxy would dial in our place.
//   - A local file is opened only below a folder that the operator named, and
//     never through a link that leaves it; only regular files are read.
//   - Nothing is unbounded: bytes after decoding, the ratio by which an encoded
//     body may grow, time without progress, redirects, header size, the cache.
//   - A partial file never has the name of a whole one. The cache is content
//     addressed (DIR/sha256/ab/abcdef…) and least-recently-used; a File that is
//     not closed is not evicted.
//
// What it does not do: look at what it fetched (an HTML page is as good as an
// MP3), follow playlists, send credentials other than those in the URL, or copy
// local files. Whoever can write to a named folder can change a file between
// Fetch and its use; the hash tells.
//
// One Fetcher at a time may use a cache folder; the caller holds the lock on
// the data folder that it lies in.
//
// Errors name the URI and wrap: fault.ErrInvalid for what is refused (scheme,
// address, folder), fault.ErrNotFound (no such file, 404, 410),
// fault.ErrUnavailable for what another time may bring (5xx, connections,
// stalls), fault.ErrTooLarge, fault.ErrCorrupt when the content is not what its
// hash says, fault.ErrOverloaded when the disk is full, fault.ErrClosed.
package fetch
