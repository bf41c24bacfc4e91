// Package page is the page of `leasehold tup4fun serve`: two boxes for a program and its
// initialisation, the verdict of each property with its counterexample as a sequence diagram, a run
// that goes back and forth click by click, the state graph, and the program graph. Further tabs check
// Petri nets and traces of coordinators.
//
// It is one page that loads nothing from other hosts: template, style, scripts and examples are
// embedded, and there is no build step. The server keeps no state. A session is a link:
// program and run are in its fragment, which browsers do not send.
//
// What the page shows belongs to the text that it shows: when the text changes, the script aborts all
// requests about the text before, and removes their results. A request for one view replaces an earlier
// one for the same view only.
//
// Each request contains the program and returns JSON; drawings are SVG of package draw.
// Everything is bounded: the size of a program (MaxRequest), the states, memory and time
// of one request (Limits), and the requests that are processed concurrently. A result
// that a bound cut short names the bound, and is never shown as "holds".
//
// Only requests for a loopback host that come from the page itself are answered, so that
// no other site in the same browser can use it. The content security policy forbids
// inline script and style; names from programs are escaped.
package page
