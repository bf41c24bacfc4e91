package code

import (
	"context"
	"fmt"

	"leasehold/shared/code"
)

// unusable is a store whose files are damaged.
type unusable struct{ reason error }

// Unusable returns the store of an index that cannot be opened, so that a coordinator runs
// without it. Its methods return reason, except DropRepo: a search sees no files, and
// Index.DropRemoved removes those of the repository when the index is opened again.
func Unusable(reason error) Store {
	return unusable{fmt.Errorf("the code index cannot be used: %w", reason)}
}

func (u unusable) Search(context.Context, code.Query, code.Options, func(code.Match) bool) (code.Stats, error) {
	return code.Stats{}, u.reason
}

func (u unusable) Missing(context.Context, []code.OID) ([]code.OID, error) {
	return nil, u.reason
}

func (u unusable) PutBlobs(context.Context, string, []code.Blob) error { return u.reason }
func (u unusable) PutSegment(context.Context, string, string) error    { return u.reason }
func (u unusable) Publish(context.Context, code.Manifest) error        { return u.reason }
func (u unusable) DropRepo(context.Context, string) error              { return nil }
func (u unusable) Repos(context.Context) ([]code.RepoInfo, error)      { return nil, u.reason }

func (u unusable) Text(context.Context, code.OID) ([]byte, error) { return nil, u.reason }

func (u unusable) Files(context.Context, func(id, name string) bool, func(code.FileInfo, func() []code.FunctionReport) bool) error {
	return u.reason
}
