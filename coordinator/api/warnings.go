package api

import (
	"context"

	"leasehold/shared/api/types"
)

// InsecureWarning describes a coordinator that runs with --insecure.
const InsecureWarning = "insecure: this coordinator does not authenticate its clients: everyone who reaches its ports may do anything"

func (s *server) listWarnings(ctx context.Context, _ *request) (types.Warnings, error) {
	w := types.Warnings{Items: []string{}}
	if s.Insecure {
		w.Items = append(w.Items, InsecureWarning)
	}
	if s.Auth == nil {
		return w, nil
	}
	lines, err := s.Auth.Warnings(ctx)
	w.Items = append(w.Items, lines...)
	return w, err
}
