package cmd

import (
	"fmt"
	"strings"
	"time"

	"leasehold/models"
)

// ways are how tasks were done, as people say it.
var ways = map[string]string{"known": "from kept fingerprints", "decoded": "fetched and decoded"}

// costLine says how the episodes that were searched came, and what each took; "" if none was.
func costLine(costs []models.Cost) string {
	var parts []string
	for _, c := range costs {
		way, known := ways[c.How]
		if c.Action != models.ActionResearch || !known || c.Tasks <= 0 {
			continue
		}
		each := func(s models.Seconds) time.Duration {
			return (s.Duration() / time.Duration(c.Tasks)).Round(time.Millisecond)
		}
		parts = append(parts, fmt.Sprintf("%s %s, %v each (%v of processor, %s)",
			count(int(c.Tasks), "episode"), way, each(c.Wall), each(c.CPU), count(int(c.Windows/c.Tasks), "window")))
	}
	return strings.Join(parts, "; ")
}
