package types

// Backup is the destination of a backup.
type Backup struct {
	Path string `json:"path" doc:"absolute path on the coordinator's machine; it must not exist"`
}
