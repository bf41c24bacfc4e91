// Package page is the pages that people see in a browser: what needs attention, tasks, workers, the archive, visits,
// code search, schedules, spaces and the log. They show problems with their causes and times, and offer actions that fix it.
//
// Each page is a view: a function that reads, and a template. A view reads from the coordinator's API within the process
// (source), as the visitor, and a form does one operation of that API. So a page shows and does no more than the role of
// the visitor allows, and the audit names who did what. Every read is bounded; no page visits all tasks.
//
// Pages are rendered on the server, and every page and form works without a script. With it, the browser subscribes to
// /events for its page. A view is rendered at most once a second for all visitors with the same roles, and sent if it
// changed; otherwise an event has the time only, so that the page knows that it is not cut off. Elements with data-key
// are updated in their place. There is no build step: templates, style and script are embedded.
//
// A visitor that does not read is disconnected after WriteTimeout; there are at most maxVisitors. The page loads nothing
// from other hosts, has no inline script or style, and cannot be framed; html/template escapes every value.
//
// Package api, which serves the page, checks the names of hosts and that forms come from this page.
package page
