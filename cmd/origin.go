package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// timeFormat is how JSON and tables show a time.
const timeFormat = time.RFC3339

// newOrigin is `leasehold origin`.
func (a *app) newOrigin() *cobra.Command {
	c := &cobra.Command{
		Use:   "origin",
		Short: "what is visited again and again: feeds, folders of episodes, folders of clips",
	}
	c.AddCommand(a.newOriginAdd(), a.newOriginList(), a.newOriginShow(), a.newOriginRemove())
	return c
}

// newOriginAdd is `leasehold origin add`.
func (a *app) newOriginAdd() *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use:   "add PATH…",
		Short: "add the origins at each PATH, and visit them",
		Args:  cobra.MinimumNArgs(1),
		RunE: a.inHouse(func(ctx context.Context, h *house, args []string) error {
			added, err := h.add(ctx, args, kind)
			if err != nil {
				return err
			}
			h.trust(added)
			var failed []error
			for _, o := range added {
				failed = append(failed, a.visit(ctx, h, o))
			}
			return errors.Join(failed...)
		}),
	}
	c.Flags().StringVar(&kind, "kind", "", "what each PATH is, if it should not be detected: feed, media or clips")
	config.BindFlags(c.Flags(), dataKeys...)
	return c
}

// visit looks at an origin now, and says what was found.
func (a *app) visit(ctx context.Context, h *house, o models.Origin) error {
	began := time.Now()
	outcome, visitErr := h.flow().Visit(ctx, o)
	if visitErr != nil {
		outcome = models.Outcome{Status: models.Failed, Error: visitErr.Error()}
	}
	outcome.Origin, outcome.At, outcome.Took = o.ID, began.UTC(), models.SecondsOf(time.Since(began))
	outcome.Visit = "add-" + o.ID
	if err := h.catalog.RecordOutcome(ctx, outcome); err != nil {
		return err
	}
	if visitErr != nil {
		return fmt.Errorf("%s %s is added, but could not be visited: %w", o.Kind, o.URI, visitErr)
	}
	_, err := fmt.Fprintf(a.out, "added %s %s %s: %s\n", o.ID, o.Kind, o.URI, count(outcome.Items, "recording"))
	return err
}

// newOriginList is `leasehold origin list`.
func (a *app) newOriginList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "print all origins",
		Args:  cobra.NoArgs,
		RunE: a.inHouse(func(ctx context.Context, h *house, _ []string) error {
			origins, err := h.catalog.Origins(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSONLines(a, origins)
			}
			t := a.newTable("ID", "KIND", "PRIORITY", "LAST VISIT", "OUTCOME", "URI")
			for _, o := range origins {
				t.row(o.ID, string(o.Kind), fmt.Sprint(o.Priority), when(o.LastVisit), string(o.LastOutcome), o.URI)
			}
			return t.print()
		}),
	}
	bindJSON(c, &asJSON)
	config.BindFlags(c.Flags(), dataKeys...)
	return c
}

// newOriginShow is `leasehold origin show`.
func (a *app) newOriginShow() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "show ORIGIN",
		Short: "print one origin, named by its id, URL or path",
		Args:  cobra.ExactArgs(1),
		RunE: a.inHouse(func(ctx context.Context, h *house, args []string) error {
			o, err := h.origin(ctx, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(o)
			}
			t := a.newTable("id", o.ID)
			t.row("kind", string(o.Kind))
			t.row("uri", o.URI)
			t.row("priority", fmt.Sprint(o.Priority))
			t.row("added", when(o.AddedAt))
			t.row("last visit", when(o.LastVisit))
			t.row("outcome", string(o.LastOutcome))
			if o.LastError != "" {
				t.row("error", o.LastError)
			}
			return t.print()
		}),
	}
	bindJSON(c, &asJSON)
	config.BindFlags(c.Flags(), dataKeys...)
	return c
}

// newOriginRemove is `leasehold origin remove`.
func (a *app) newOriginRemove() *cobra.Command {
	c := &cobra.Command{
		Use:   "remove ORIGIN…",
		Short: "forget origins, their recordings, and what was found in them",
		Args:  cobra.MinimumNArgs(1),
		RunE: a.inHouse(func(ctx context.Context, h *house, args []string) error {
			for _, name := range args {
				o, err := h.origin(ctx, name)
				if err != nil {
					return err
				}
				if err := h.catalog.RemoveOrigin(ctx, o.ID); err != nil {
					return err
				}
				if _, err := fmt.Fprintf(a.out, "removed %s %s %s\n", o.ID, o.Kind, o.URI); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	config.BindFlags(c.Flags(), dataKeys...)
	return c
}

// dataKeys are the settings of the commands that read a data folder.
var dataKeys = []string{"data", "fetch-max-bytes", "fetch-stall", "fetch-redirects", "cache-bytes", "allow-private", "log-level", "log-format"}

// inHouse makes a command of what is done in an open data folder.
func (a *app) inHouse(do func(context.Context, *house, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) (err error) {
		h, err := a.openHouse(c)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, h.close()) }()
		return do(c.Context(), h, args)
	}
}

// origin finds an origin by its id, URL or path.
func (h *house) origin(ctx context.Context, name string) (models.Origin, error) {
	origins, err := h.catalog.Origins(ctx)
	if err != nil {
		return models.Origin{}, err
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return models.Origin{}, fmt.Errorf("origin %s: %w", name, err)
	}
	for _, o := range origins {
		if o.ID == name || o.URI == name || o.URI == path {
			return o, nil
		}
	}
	return models.Origin{}, fmt.Errorf("origin %s: %w; see leasehold origin list", strings.TrimSpace(name), fault.ErrNotFound)
}

// when prints a time for people.
func when(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(timeFormat)
}
