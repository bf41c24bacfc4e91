// Package lister is the manager's flow for what names origins: an OPML document of
// feeds, a text file with a URL on each line, a folder of repositories. Such a
// lister is an origin itself: a run of it is a visit, whose outcome carries what it
// named, and the coordinator makes origins of that.
//
// One visit names at most models.MaxListed origins; the next ones go on where it
// ended, unless the list has changed meanwhile, when it begins anew. The last of them
// makes the listing full: what it does not name is not visited any more until it is
// named again. A list of more than 200,000 origins is never full. One that names nothing
// is a failure, so that an empty answer disables nothing. What it names is hostile
// input: http(s) URLs, and folders below its own; all else is left out. A private
// address that it names is not dialled.
//
// In a text file, empty lines and those that begin with # are skipped; a URL whose
// path ends in .git is a repository, any other a feed. A folder's repositories are
// looked for two folders deep; the time of their last commit here is their date, and the
// beginning of their log of HEAD that of their creation; an outline of OPML may have a
// creation date too (created).
package lister
