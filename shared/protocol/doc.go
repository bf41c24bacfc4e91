// Package protocol holds the protocols: typed tuples, the procedures that change them in
// one transaction, and clients that call these. Coordinator, managers and workers meet here, because
// they never import each other. A protocol imports the interfaces of a space and never an engine, so
// that it works the same in process and over a network. Package work/worktest is the suite of all.
//
// Beside the protocol of visits are its policies and their simulator (visit/policy,
// visit/simulate), which are arithmetic and need no space.
package protocol
