// Package page is the page of `leasehold tup4fun serve`: two boxes for a program and
// its initialisation, the program graph, a run that is chosen click by click, all
// configurations that it can lead to, and the verdict of each property with its
// counterexample as a sequence diagram.
//
// It is one page, which loads nothing from elsewhere: template, style and script
// are embedded, and there is no build step. The server keeps nothing. A session is
// a link: program and choices are in its fragment, which browsers do not send.
//
// Each request brings the program and gets JSON; drawings are SVG of package draw.
// Everything is bounded: the size of a program (MaxRequest), the states, memory and
// time that one request may take (Limits), and how many are worked on at once.
// What was cut short says so, and is never shown as "holds".
//
// Only requests that name a loopback host, and come from the page itself, are
// answered, so that no other site in the same browser can use it. Inline script and
// style are forbidden by the policy that is sent; names from programs are escaped.
package page
