// Package syntax parses and prints tup4fun programs: small models of processes that
// communicate through tuple spaces.
//
// A file has up to three parts separated by lines of ---: the initial declarations, the
// processes, and their properties.
//
//	const N = 2, Fork = (R, N, {(1), (2)})
//	---
//	par N * proc Philosopher(i) =
//	    loop true -> Fork.get(i); Fork.get(i % N + 1); Fork.put(i); Fork.put(i % N + 1) pool
//	rap
//	---
//	deadlockfree;
//
// The language is the one of the learning tool tup4fun; Boxes are its two boxes, program and
// initialisation, unchanged. It has extensions: constants, symbols, local variables, named and
// replicated processes, labels, atomic, count, else, timeout, and properties. The words of the
// extensions are reserved only by context, so a program may have a variable called count.
//
// Parse is a recursive-descent parser with exact positions. It continues after an error
// and returns up to MaxErrors of them. A program that it returns without an error is
// resolved: each name has its Object, and types agree. Size and nesting are bounded
// (MaxSource, maxNesting).
//
// The package runs nothing; package explore does.
package syntax
