// Package page is the page at /: the sessions and what they do, the spaces with their
// counts, the schedules and when they are due, what needs attention, and the latest findings;
// and the pages of code search at /code, whose links name the content of a file by its hash, so that they stay.
//
// The page is rendered on the server and works without JavaScript. With it, the browser
// subscribes to /events and replaces a section when it changes. There is no build step:
// template, style and script are embedded.
//
// All visitors share one snapshot, which is collected at most once a second and only while
// there is a visitor. A visitor that does not read is disconnected after WriteTimeout; there
// are at most maxVisitors. The page loads nothing from other hosts, has no inline script or
// style, and cannot be framed; html/template escapes every value.
//
// The page only shows; it changes nothing. Package api, which serves it, checks the names
// of hosts.
package page
