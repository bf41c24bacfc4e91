// Package admission keeps whom a coordinator admits: invites, by which processes of the fleet join; the peers that have
// joined; the tokens of programs and people; and the audit, a record of each change that these made. They are tables in
// the file of the catalog.
//
// A secret is shown once, when it is made, and kept as its SHA-256. It has at least 160 random bits, so that a plain
// hash suffices: there is nothing to guess.
package admission
