package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"leasehold/shared/apiclient"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// askKeys are the settings of the commands that ask a coordinator.
var askKeys = []string{"data", "host", "http"}

// A found is where a coordinator may be.
type found struct {
	api  string // URL; empty: nowhere
	said bool   // by the user, and not by a file that may be stale
	file string // that says so, or would
}

// locate says where the coordinator of a command is: where --http says, else where
// the gate at --host says (by a flag, the environment or the file of settings), else
// where the file in the data folder does. An error is fault.ErrUnavailable: a gate
// that does not answer, or a file that cannot be read.
func locate(ctx context.Context, cfg config.Config) (found, error) {
	from := map[string]string{}
	for _, v := range cfg.Values() {
		from[v.Key] = v.Source
	}
	const byDefault = "default"
	f := found{file: filepath.Join(cfg.Data, addressFile)}
	hostSaid, httpSaid := from["host"] != byDefault, from["http"] != byDefault
	var err error
	switch {
	case from["http"] == "--http", hostSaid && httpSaid:
		f.api, f.said = apiOf(cfg.Host, cfg.HTTP), true
	case hostSaid:
		f.said = true
		f.api, err = askGate(ctx, cfg.Host)
	default:
		f.api, err = f.read()
	}
	return f, err
}

// read returns what the file says; nothing, if it is not there.
func (f found) read() (api string, err error) {
	data, err := os.ReadFile(f.file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var doc addresses
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w: %w", f.file, fault.ErrUnavailable, err)
	case doc.HTTP == "":
		return "", nil
	}
	return apiOf(doc.HTTP, doc.HTTP), nil
}

// ask makes a command of what is asked of a running coordinator. There must be one.
func (a *app) ask(do func(context.Context, *apiclient.Client, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) (err error) {
		if len(args) > 0 && args[0] == "" {
			return usagef("%s: the first argument is empty; usage: %s", c.CommandPath(), c.UseLine())
		}
		cfg, err := a.load(c)
		if err != nil {
			return err
		}
		f, err := locate(c.Context(), cfg)
		if err != nil {
			return err
		}
		if f.api == "" {
			return fmt.Errorf("no coordinator: %w: --host is not said, and there is no %s; start one, or say where it is",
				fault.ErrUnavailable, f.file)
		}
		client, err := apiclient.New(f.api)
		if err != nil {
			return err
		}
		defer client.Close()
		if err = client.Alive(c.Context()); err == nil { // at once, where a call would try for a while
			err = do(c.Context(), client, args)
		}
		if c.Context().Err() != nil {
			return errors.New("interrupted")
		}
		return f.explain(err)
	}
}

// explain says of a coordinator that does not answer who said that it was there.
func (f found) explain(err error) error {
	if err == nil || f.said || !errors.Is(err, fault.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w; %s says that it is there, and is stale if its process has ended", err, f.file)
}
