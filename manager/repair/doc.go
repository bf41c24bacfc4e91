// Package repair turns the document of a feed or of OPML, as a server sent it, into one that its parser reads. A
// fault costs at most the field that it is in, and Faults names the repairs.
//
//   - Bytes: gzip that the server did not announce, the charset, characters that XML does not have.
//   - Markup: text before the root and behind it, declarations, references, CDATA sections and comments without an
//     end, attributes, elements that are not closed. Entities that a document declares are never expanded.
//   - URLs and ids that the parser does not resolve: xml:base of URLs, and rdf:about in place of a guid.
//
// The result is never longer than the caller allows. A document without a fault is returned without a copy, from
// its root element on. Document does not parse dates. It does not change the markup of
// documents without such a root element.
package repair
