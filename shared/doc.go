// Package shared has what several modes use, in twelve folders: fault and tuple (errors, tuples),
// space (tuple spaces and what makes them durable), protocol (how the modes work together), catalog
// (what is known of origins, episodes and clips), clips and code (the two searches), fetch (what
// comes from outside), identity (keys, certificates and join lines), config, api and process. What
// only one package uses lives with that package instead. The folders stand on four levels, and
// imports go down: docs/architecture.md.
package shared
