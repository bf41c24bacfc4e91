package cmd

import (
	"fmt"
	"strings"
	"time"

	"leasehold/models"
)

// costLine sums up what tasks have cost, for each action and way; it returns "" if no
// task has ended.
func costLine(costs []models.Cost) string {
	var parts []string
	for _, c := range costs {
		action, _ := models.ActionNamed(c.Action)
		way, known := action.Ways[c.How]
		if !known || c.Tasks <= 0 {
			continue
		}
		each := func(s models.Seconds) time.Duration {
			return (s.Duration() / time.Duration(c.Tasks)).Round(time.Millisecond)
		}
		parts = append(parts, fmt.Sprintf("%s %s, %v each (%v CPU, %s)",
			count(int(c.Tasks), action.Item), way, each(c.Wall), each(c.CPU), count(int(c.Windows/c.Tasks), "window")))
	}
	return strings.Join(parts, "; ")
}
