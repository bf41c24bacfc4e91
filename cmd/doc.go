// Package cmd is the command line: one file for each command, and the printing that commands
// share. Package node assembles what they run.
//
// Main runs the command that os.Args names and returns the exit code of the process; it is the
// only exported name. A command returns an error, which Main prints once, to standard error, as
// "leasehold: …". Its kind (shared/fault) decides the exit code: 2 if the user can fix it on the
// command line, in the environment or in the file of settings.
//
// A command is a method on app that returns a *cobra.Command; commandGroups lists them by job, and
// renamed.go has the earlier names of commands. Commands write to app.out and app.err, read their
// configuration with app.load, and take their context from cobra: it ends at the first SIGINT or
// SIGTERM, and a second one ends the process at once; a SIGTERM within a second is the first one repeated.
//
// A command that prints rows (print.go) has a type for a row. CSV has the JSON fields of the row,
// and docs/json.md documents them; a table (table.go) fits the terminal. A command that needs a
// running coordinator is made with app.withCoordinator; a command that reads the catalog, with
// app.withCatalog, which uses the data folder if no coordinator answers, and does not create it.
package cmd
