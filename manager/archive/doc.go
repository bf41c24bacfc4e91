// Package archive is the manager's flow for podcasts: it visits origins, and
// curates the episodes and clips that they list.
//
// A Lister turns an origin into a listing: a feed (RSS, Atom, JSON Feed), a
// folder of episodes or a folder of clips. What it lists is hostile input. Feeds
// are bounded before they are parsed, since their parser is not: bytes, items,
// elements, depth. They may name http and https URLs that are not private, and
// a local feed may name files in its own folder; nothing else. Names lead
// nowhere out of a folder, links included. Whatever is refused is a problem
// that names the item and the reason, and the rest is listed.
//
// A recording in a folder may have a sidecar, a file beside it with its name
// and .yaml added ("talk.mp3.yaml"), or in place of its extension
// ("talk.yaml"); the former wins. Its keys are title, priority (a whole number,
// higher is sooner) and aired (2026-11-21, or RFC 3339; it means nothing for a
// clip). An item of a feed may have an element named priority, in any
// namespace. All else has the priority of its origin.
//
// Detect turns what a user names on the command line into origins.
package archive
