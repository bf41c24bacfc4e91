package pgserver

import (
	"strconv"
	"strings"
)

// processOf returns the ids of a process and of its parent from a line of /proc/PID/stat: the name of the program,
// which may contain blanks and parentheses, is between them.
func processOf(stat string) (pid, parent int) {
	before, _, _ := strings.Cut(stat, " ")
	after := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(after) < 2 {
		return 0, 0
	}
	pid, _ = strconv.Atoi(before)
	parent, _ = strconv.Atoi(after[1])
	return pid, parent
}
