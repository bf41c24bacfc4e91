package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"leasehold/shared/apiclient"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/remote"
	"leasehold/shared/fault"
)

// shelfKeys are the settings of the commands that read a catalog.
var shelfKeys = append([]string{"host", "http"}, dataKeys...)

// A shelf is a catalog in the reach of a command: a running coordinator's, or that
// of a data folder which nobody else has.
type shelf struct {
	catalog catalog.Catalog
	house   *house            // nil: at a coordinator
	api     *apiclient.Client // nil: in a data folder
}

// atShelf makes a command of what is done with a catalog.
func (a *app) atShelf(do func(context.Context, *shelf, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) (err error) {
		cfg, err := a.load(c)
		if err != nil {
			return err
		}
		f, mute := locate(c.Context(), cfg)
		if mute == nil && f.api != "" {
			var s *shelf
			if s, mute = f.openShelf(c.Context()); mute == nil {
				defer s.close()
				return do(c.Context(), s, args)
			}
		}
		if mute != nil && (f.said || c.Context().Err() != nil) {
			return mute
		}
		// Nobody answers, so the folder is nobody's; else its lock says whose it is.
		h, err := a.openHouseAt(c.Context(), cfg)
		if errors.Is(err, fault.ErrConflict) {
			return errors.Join(err, f.explain(mute), errHeld)
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, h.close()) }()
		return do(c.Context(), &shelf{catalog: h.catalog, house: h}, args)
	}
}

// errHeld says what to do about a data folder that is in use by somebody who does
// not answer.
var errHeld = errors.New("only a coordinator answers commands (leasehold coordinator). If that is leasehold run, wait until it ends, or stop it; started again, it goes on where it was")

// openShelf reaches the catalog of a coordinator that answers.
func (f found) openShelf(ctx context.Context) (*shelf, error) {
	api, err := apiclient.New(f.api)
	if err != nil {
		return nil, err
	}
	if err := api.Alive(ctx); err != nil {
		return nil, errors.Join(err, api.Close())
	}
	store, err := remote.New(f.api)
	if err != nil {
		return nil, errors.Join(err, api.Close())
	}
	return &shelf{catalog: store, api: api}, nil
}

// close gives up the connections of a coordinator's catalog.
func (s *shelf) close() {
	_ = s.api.Close()     // closing a client has no errors
	_ = s.catalog.Close() // likewise
}
