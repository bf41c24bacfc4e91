package apiclient

import (
	"context"
	"time"
)

// backupTimeout bounds a backup: it is the API's own bound of a long request.
const backupTimeout = 5 * time.Minute

// Backup has the coordinator write a backup of its data folder to an absolute path
// on its machine, which must not exist.
func (c *Client) Backup(ctx context.Context, path string) error {
	asked := struct {
		Path string `json:"path"`
	}{path}
	_, err := c.Do(ctx, Call{Method: "POST", Path: "backups", Body: asked, Timeout: backupTimeout})
	return err
}
