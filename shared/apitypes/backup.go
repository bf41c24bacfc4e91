package apitypes

// Backup says where a backup is written.
type Backup struct {
	Path string `json:"path" doc:"absolute path on the coordinator's machine; it must not exist"`
}
