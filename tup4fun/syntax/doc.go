// Package syntax reads and prints tup4fun programs: small models of processes
// that meet in tuple spaces.
//
// A file has up to three parts with a line of --- between them: what there is at
// the start, the processes, and the properties that they should have.
//
//	const N = 2, Fork = (R, N, {(1), (2)})
//	---
//	par N * proc Philosopher(i) =
//	    loop true -> Fork.get(i); Fork.get(i % N + 1); Fork.put(i); Fork.put(i % N + 1) pool
//	rap
//	---
//	deadlockfree;
//
// The language is that of the learning tool tup4fun (its two boxes, program and
// initialisation, are read unchanged by ParseBoxes), with extensions: constants,
// symbols, local variables, named and replicated processes, labels, atomic,
// count, else, timeout, and properties. Its words are reserved only where they
// stand, so that a program may have a variable called count.
//
// Parse is recursive descent over exact positions. It goes on after an error, and
// returns up to MaxErrors of them; a program that it returns without error is
// resolved: each name has its Object, and types agree. Size and nesting are
// bounded (MaxSource, MaxNesting).
//
// The package does not run anything: package explore does.
package syntax
