package api

import (
	"context"

	"leasehold/shared/api/types"
)

func (s *server) listWarnings(ctx context.Context, _ *request) (types.Warnings, error) {
	w := types.Warnings{Items: []string{}}
	if s.Insecure {
		w.Items = append(w.Items, types.InsecureWarning)
	}
	if s.Auth == nil {
		return w, nil
	}
	lines, err := s.Auth.Warnings(ctx)
	w.Items = append(w.Items, lines...)
	return w, err
}
