// Package lister is the manager's flow for listers: OPML documents of feeds, text files
// with a URL on each line, and folders of repositories. A lister is an origin itself. The
// outcome of its visit carries the origins that it names, and the coordinator adds them.
//
// One visit names at most models.MaxListed origins; the next visit continues behind them,
// or starts again if the list has changed. The visit that reaches the end makes the
// listing full: origins that the list does not name are not visited until it names them
// again. A list of more than 200,000 origins is never full. A visit that names nothing
// fails, so that an empty answer disables nothing. The list is untrusted input: only
// http(s) URLs and folders below the lister's own are accepted, and private addresses
// are not dialled.
//
// In a text file, empty lines and lines that begin with # are skipped; the suffix of a
// URL decides its kind (models.KindOfURL). Repositories are searched two folders deep.
// The time of its last local commit is a repository's date, and the first entry of its
// log of HEAD is its creation; an outline of OPML may have a creation date (created).
package lister
