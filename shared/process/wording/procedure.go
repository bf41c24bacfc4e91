package wording

import "regexp"

// procedureCall is the name of a procedure of the coordinator, before the error that it returned.
var procedureCall = regexp.MustCompile(`\bcall [a-z]+\.[a-z]+: `)

// WithoutProcedure returns a message without the names of procedures that returned it, such as "call
// task.create: ". They help in logs, and not the person who created a task.
func WithoutProcedure(message string) string {
	return procedureCall.ReplaceAllLiteralString(message, "")
}
