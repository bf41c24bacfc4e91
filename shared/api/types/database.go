package types

import (
	"time"

	"leasehold/models"
)

// DatabaseCheck is the result of the latest nightly check of a coordinator's database.
type DatabaseCheck struct {
	At     time.Time      `json:"at,omitzero" doc:"when it ended; absent: none since the coordinator started"`
	Took   models.Seconds `json:"took_s,omitempty"`
	Damage []string       `json:"damage" doc:"what is damaged, at most 100 lines; empty: no damage was found"`
	Error  string         `json:"error,omitempty" doc:"why the check could not be finished"`
}
