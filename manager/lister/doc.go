// Package lister is the manager's flow for listers: OPML documents of feeds, text files
// with a URL on each line, folders of repositories, and lists of repositories in the APIs of
// GitHub, GitLab and Gitea. A lister is an origin itself. The
// outcome of its visit carries the origins that it names, and the coordinator adds them.
//
// One visit names at most models.MaxListed origins; the next visit continues behind them,
// or starts again if the list has changed. The visit that reaches the end makes the
// listing full: origins that no list names any more are not visited until one names them
// again. A list of more than 200,000 origins is never full. A list that names nothing has
// an effect only if the visit before found the same. The list is untrusted input: only
// http(s) URLs and folders below the lister's own are accepted, and private addresses
// are not dialled.
//
// In a text file, empty lines and lines that begin with # are skipped, and also a few that
// are not URLs; the suffix of a
// URL decides its kind (models.KindOfURL). Repositories are searched two folders deep.
// The time of its last local commit is a repository's date, and the first entry of its
// log of HEAD is its creation; forges give both dates, forks and archived repositories. The pages
// of a forge are remembered in memory, so that unchanged ones are not sent again; only the
// query of a link to the next page is used, so that no answer leads to another host.
// An outline of OPML may have a creation date (created). OPML is repaired as feeds are (manager/repair).
package lister
