package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	_ "golang.org/x/crypto/x509roots/fallback" // a scratch image has no CA roots of its own

	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// Main runs the command that the arguments of the process name, and returns the
// code to exit with.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends the process
	a := &app{out: os.Stdout, err: os.Stderr}
	return a.run(ctx, os.Args[1:])
}

// app is what the commands share.
type app struct {
	out, err io.Writer
	level    slog.LevelVar  // of the log
	flags    *pflag.FlagSet // of the command, once load has read them
}

// run runs one command line.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.newRoot()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if !errors.Is(err, errSaid) {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(a.err, "leasehold: %s\n", line)
		}
	}
	return fault.Of(err).ExitCode
}

// errSaid marks an error whose message the command itself has printed.
var errSaid = errors.New("already said")

// load reads the configuration for a command that has bound its flags.
func (a *app) load(c *cobra.Command) (config.Config, error) {
	a.flags = c.Flags()
	return config.Load(a.flags)
}

// usageError is what the user must mend on the command line.
type usageError string

func (u usageError) Error() string        { return string(u) }
func (u usageError) Is(target error) bool { return target == fault.ErrUsage }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }
