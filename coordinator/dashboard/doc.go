// Package dashboard is the one page at /: who does what (the status space), the
// spaces with their counts, what needs attention, and the latest findings.
//
// The page is rendered here and works without JavaScript; with it, it subscribes
// to /events and replaces its sections as they change. There is no build step:
// template, style and script are embedded.
//
// All visitors share one picture, which is taken at most once a second and only
// while somebody looks. A visitor who does not read is dropped after a while, and
// costs no more than one picture until then; there are at most MaxVisitors of
// them. The page loads nothing from elsewhere, has no inline script or style, and
// cannot be framed; everything that is shown is escaped by html/template.
//
// It shows; it does not change anything. Names of hosts are not checked here:
// package api, which serves the page, does that.
package dashboard
