// Package clips is the manager's flow for podcasts: it visits origins, and
// curates the episodes and clips that they list.
//
// A Lister turns an origin into a listing: a feed (RSS, Atom, JSON Feed) with its further pages, a folder of
// episodes or a folder of clips. All are untrusted input. Feeds are repaired (package repair), and then bounded in
// bytes, items, elements and depth before they are parsed, because their parser is not bounded. They may name http
// and https URLs that are not private, and a local feed may name files in its own folder; nothing else. No name or
// link leads out of a folder. A refused item becomes a problem with its name and the reason, and the other items are
// listed.
//
// A recording in a folder may have a sidecar, a file beside it with its name
// and .yaml added ("talk.mp3.yaml"), or in place of its extension
// ("talk.yaml"); the former wins. Its keys are title, priority (a whole number,
// higher is sooner) and aired (2026-11-21, or RFC 3339; ignored for a
// clip). An item of a feed may have an element named priority, in any
// namespace. Other recordings have the priority of their origin.
//
// Detect turns a path or URL of the command line into origins.
package clips
