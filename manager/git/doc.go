// Package git is the manager's flow for repositories: it visits one by its refs,
// and by when its commits were made where it says so. Nothing indexes them yet.
//
// No program is started. A repository behind http(s) is asked for its refs, as
// `git ls-remote` would, through package fetch with its limits and its guard of
// addresses; one in a folder is read, and what is read is never a path out of it.
// Other URLs (ssh, git, ext::…) are refused.
//
// The digest is over the names and hashes of all refs and HEAD. When these have
// changed, a server is asked for the commits of HEAD since the last success, without
// trees and files: at most 4 MiB of a pack, in 30 s, of which the dates of the latest
// models.MaxChanges count. A server that cannot leave files out (uploadpack.allowFilter)
// is not asked. A folder's log of HEAD gives when it moved. Where there are no dates, a
// visit tells only whether there was a change.
package git
