// Package git visits a repository by its refs and, if the repository provides them, the
// dates of its commits. Package manager/code copies and indexes those whose refs have changed.
//
// The flow starts no program. It requests the refs of a repository behind http(s) as
// `git ls-remote` does, through package fetch with its limits and address guard. It reads
// a repository in a folder, and never a path outside of that folder. It refuses other
// URLs (ssh, git, ext::…).
//
// The digest covers the names and hashes of all refs and HEAD. If it changed, the flow
// requests the commits of HEAD since the last successful visit, without trees and files:
// at most 4 MiB of a pack, in 30 s, and at most models.MaxChanges dates. It does not
// request them from a server that cannot omit files (uploadpack.allowFilter). For a
// folder, the dates come from the log of HEAD. Without dates, a visit reports only
// whether there was a change.
package git
