package api

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"

	"leasehold/shared/apitypes"
	"leasehold/shared/fault"
)

func (s *server) makeBackup(ctx context.Context, r *http.Request) (any, error) {
	var wanted apitypes.Backup
	if err := body(r, &wanted); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(wanted.Path) {
		return nil, fmt.Errorf("path %.100q: %w: an absolute path is wanted", wanted.Path, fault.ErrInvalid)
	}
	if err := mayName(r, wanted.Path); err != nil {
		return nil, err
	}
	if s.Backup == nil {
		return nil, fmt.Errorf("%w: this coordinator makes no backups", fault.ErrForbidden)
	}
	if err := s.Backup(ctx, wanted.Path); err != nil {
		return nil, err
	}
	return reply{status: http.StatusCreated, body: wanted}, nil
}
