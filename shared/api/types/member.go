package types

import (
	"time"

	"leasehold/models"
)

// Upgrade is the state of a realm after an upgrade.
type Upgrade struct {
	Format int `json:"format" doc:"of the realm; members of a version that does not read it are refused"`
}

// Member is a coordinator of a realm.
type Member struct {
	Name    string    `json:"name"`
	Role    string    `json:"role" enum:"owner,standby" doc:"the owner serves, and a standby waits to take over"`
	Gates   []string  `json:"gates" doc:"addresses of its gate, host:port"`
	API     string    `json:"api" doc:"URL of its API"`
	Epoch   uint64    `json:"epoch" doc:"of the owner: how often the realm has been taken over; 0 for a standby"`
	Version string    `json:"version" doc:"of the program"`
	Since   time.Time `json:"since" doc:"when its process joined the realm"`
}

// Realm is how the coordinator that serves keeps a realm in its database.
type Realm struct {
	Name    string          `json:"name" doc:"empty: the coordinator keeps everything in its folder, and serves alone"`
	Owner   string          `json:"owner" doc:"name of the coordinator that serves"`
	Epoch   uint64          `json:"epoch" doc:"how often the realm has been taken over"`
	Commit  *models.Seconds `json:"commit_s,omitempty" doc:"mean duration of a commit since the coordinator serves"`
	Commits int64           `json:"unfolded_commits" doc:"commits of the log that are not folded into the table of facts"`
	Bytes   int64           `json:"unfolded_bytes" doc:"their size"`
}
