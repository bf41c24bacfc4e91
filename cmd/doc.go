// Package cmd is the command line: one file for each command, nothing but
// wiring and printing.
//
// Main runs the command that os.Args names and returns the exit code for the
// process; it is the only exported name. What goes wrong is an error that a
// command returns: it is printed once, to standard error, as "leasehold: …",
// and its kind (shared/fault) decides the exit code: 2 for what the user must
// mend on the command line, in the environment or in the file.
//
// A command is a method on app that returns a *cobra.Command; newRoot lists
// them. Commands write to app.out and app.err, read their configuration with
// app.load, and take their context from cobra: it ends at the first SIGINT or
// SIGTERM, and a second one ends the process at once.
//
// A command that reads prints rows (print.go): a row knows its columns, its JSON
// fields are those of CSV, and docs/json.md has them. One that needs a running
// coordinator is made with app.ask (locate.go); one that reads a catalog, with
// app.atShelf (shelf.go), which falls back to the data folder when nobody has it.
package cmd
