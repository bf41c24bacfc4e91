// Package git is the manager's flow for repositories: it visits one by its refs,
// and by when its commits were made where it says so. Nothing indexes them yet.
//
// No program is started. A repository behind http(s) is asked for its refs, as
// `git ls-remote` would, through package fetch with its limits and its guard of
// addresses; one in a folder is read, and what is read is never a path out of it.
// Other URLs (ssh, git, ext::…) are refused.
//
// The digest is over the names and hashes of all refs and HEAD. A folder's log of
// HEAD gives the times of its changes; behind http(s) a visit tells only whether
// there was one.
package git
