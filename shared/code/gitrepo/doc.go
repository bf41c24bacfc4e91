// Package gitrepo keeps bare mirrors of git repositories on this machine's disk, lists
// their files, and reads their blobs.
//
// The git command copies and reads them; on a machine without it the library go-git, which
// is slower, refuses objects of more than 64 MiB, and cannot read bundles, work trees of
// repositories elsewhere, repositories that borrow objects, and SHA-256.
//
// Repositories, their names and their servers are untrusted. The package starts the git
// command with an environment and a configuration of its own: no hooks, no filters, no
// submodules, no helper programs of transports (ext::, fd::), no prompts, no redirects,
// and only the schemes and hosts that Config allows. It checks out no files, so that a
// symbolic link is a blob that nobody follows, and a path is a name without a meaning on
// this machine. Arguments that come from outside stand behind -- or on standard input.
// The address of an http(s) host is checked by Config.Resolve, and git connects to that
// address only. A token is passed to git by a credential helper that reads its file, so
// that no command line and no environment has it.
//
// A mirror has the wanted branches, one commit deep unless the history is asked for. Its size and
// the size of all mirrors have bounds in bytes: a fetch that exceeds its bound is killed, and the
// mirrors that were not used for the longest time are removed.
//
// The library starts no program but ssh. Its connections follow the same rules; the pack
// that a server sends is checked before go-git reads it, because that reads whole objects
// into memory.
//
// Blobs are read by git cat-file as a stream. A blob that cannot be read is reported by
// its id, and the others are read nevertheless.
//
// Errors: fault.ErrInvalid for a refused source, fault.ErrNotFound for one that does not exist,
// fault.ErrForbidden for one that needs other credentials, fault.ErrTooLarge past a bound,
// fault.ErrCorrupt for damaged content, and fault.ErrUnavailable for what may pass.
package gitrepo
