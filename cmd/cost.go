package cmd

import (
	"fmt"
	"strings"
	"time"

	"leasehold/models"
)

// costLines sums up what tasks have cost: one line for each action, such as "research: 2
// episodes fetched and decoded, 2.2s each (2.5s CPU, 30 windows)".
func costLines(costs []models.Cost) (lines []string) {
	for _, name := range models.ActionNames() {
		if line := costLine(name, costs); line != "" {
			lines = append(lines, name+": "+line)
		}
	}
	return lines
}

// costLine sums up what tasks of an action have cost, for each way; it returns "" if none has
// ended. Ways that this version does not know are skipped. Times are means of one task.
func costLine(name string, costs []models.Cost) string {
	var parts []string
	for _, c := range costs {
		action, _ := models.ActionNamed(c.Action) // an unknown one has no ways
		way, known := action.Ways[c.How]
		if !known || c.Tasks <= 0 || c.Action != name {
			continue
		}
		each := func(s models.Seconds) time.Duration {
			return (s.Duration() / time.Duration(c.Tasks)).Round(time.Millisecond)
		}
		part := fmt.Sprintf("%s %s, %v each", count(int(c.Tasks), action.Item), way, each(c.Wall))
		if name == models.ActionResearch {
			part += fmt.Sprintf(" (%v CPU, %s)", each(c.CPU), count(int(c.Windows/c.Tasks), "window"))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}
