// Package models holds the domain's vocabulary: origins and their visits,
// recordings (episodes and clips), findings, leases, tasks and results, and the
// JSON documents that travel in the bodies of tuples.
//
// It also has the two tables that other packages derive their behaviour from: the kinds
// of origin (Kinds) and the actions (ActionNamed).
//
// The types carry data and small, total methods; they know nothing of spaces,
// databases or networks, and import no other package of this module. Times are UTC; JSON field
// names are snake_case and are a public contract (docs/json.md), because any
// pSpaces client may read or write the bodies of tuples.
package models
