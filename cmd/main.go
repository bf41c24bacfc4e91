package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	_ "golang.org/x/crypto/x509roots/fallback" // a scratch image has no CA roots of its own

	"leasehold/node"
	"leasehold/node/locate"
	"leasehold/shared/api/client"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// Main runs the command that the arguments of the process name, and returns the
// code to exit with.
func Main() int {
	platform.MakeNewFilesPrivate() // files may contain secrets of origins, also those of SQLite and Pebble
	ctx, stop := untilSignal()
	defer stop()
	a := &app{out: os.Stdout, err: os.Stderr}
	return a.run(ctx, os.Args[1:])
}

// repeatedSignal is how long after the first signal a SIGTERM is taken for the first one repeated: supervisors and
// shells send it to the process and to its group.
const repeatedSignal = time.Second

// untilSignal returns a context that ends at the first signal to end, with the signal as its cause, or at
// stop. Signals have their default effect again before the context ends, except a repeated SIGTERM, so a
// second one ends the process also if it is sent as soon as the process says that it drains.
func untilSignal() (ctx context.Context, stop func()) {
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	context.AfterFunc(signals, func() {
		repeated := make(chan os.Signal, 1)
		signal.Notify(repeated, syscall.SIGTERM) // not signal.Ignore, which children inherit
		time.AfterFunc(repeatedSignal, func() { signal.Stop(repeated) })
		stop()
		cancel(context.Cause(signals))
	})
	return ctx, stop
}

// app is the state that commands share.
type app struct {
	out, err io.Writer
	level    slog.LevelVar  // of the log
	log      logWriter      // where the log is written
	flags    *pflag.FlagSet // that the command uses, once it has loaded its configuration
}

// run runs one command line, prints its error if the command has not done so, and returns the
// exit code.
func (a *app) run(ctx context.Context, args []string) int {
	out, errs := &redactor{to: a.out}, &redactor{to: a.err}
	a.out, a.err = out, errs
	defer out.flush()
	defer errs.flush()
	root := a.newRoot()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if !errors.Is(err, errReported) {
		for _, line := range plainError(err) {
			sayf(a.err, "leasehold: %s\n", line)
		}
	}
	return fault.Of(err).ExitCode
}

// errReported marks an error whose message the command itself has printed.
var errReported = errors.New("reported before")

// load reads the configuration of a command that has bound its flags.
func (a *app) load(c *cobra.Command) (config.Config, error) {
	a.flags = c.Flags()
	return a.loadFlags()
}

// loadFlags loads the configuration by a.flags. It warns of flags with a secret, which every user of the machine sees.
func (a *app) loadFlags() (config.Config, error) {
	cfg, err := config.Load(a.flags)
	if err != nil {
		return cfg, err
	}
	for _, key := range cfg.SecretFlags() {
		sayf(a.err, "warning: other users of this machine see the secret of --%s in the list of processes: use --%s @FILE, or the environment variable LEASEHOLD_%s\n", key, key, strings.ToUpper(key))
	}
	return cfg, nil
}

// withConfig returns what a command runs that needs its configuration and takes no
// arguments.
func (a *app) withConfig(do func(context.Context, config.Config) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		cfg, err := a.load(c)
		if err != nil {
			return err
		}
		return do(c.Context(), cfg)
	}
}

// withCoordinator returns what a command runs that asks a running coordinator. There must be one. An empty
// first argument is a usage error.
func (a *app) withCoordinator(do func(context.Context, *client.Client, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 && args[0] == "" {
			return usagef("%s: the first argument is empty; usage: %s", nameOf(c), c.UseLine())
		}
		cfg, err := a.load(c)
		if err != nil {
			return err
		}
		return locate.Call(c.Context(), cfg, func(ctx context.Context, client *client.Client) error {
			return refusedArgument(do(ctx, client, args))
		})
	}
}

// coordinatorCommand completes a command that asks a running coordinator: with do, as withCoordinator calls
// it, and with the flags that name the coordinator.
func (a *app) coordinatorCommand(c *cobra.Command, do func(context.Context, *client.Client, []string) error) *cobra.Command {
	c.RunE = a.withCoordinator(do)
	config.BindFlags(c.Flags(), coordinatorKeys...)
	return c
}

// listCommand completes a command that prints all rows that the coordinator returns; none is the text in
// place of a table without rows.
func listCommand[T any, R row](a *app, c *cobra.Command, get func(*client.Client, context.Context) ([]T, error), asRow func(T) R, none string) *cobra.Command {
	c.Args = cobra.NoArgs
	o := bindOutput(c)
	return a.watchable(a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, _ []string) error {
		all, err := get(api, ctx)
		if err != nil {
			return err
		}
		return show(a, o, rowsOf(all, asRow), none)
	}))
}

// withCatalog returns what a command runs that reads the catalog of the running coordinator or, if there is
// none, of the data folder, which must exist.
func (a *app) withCatalog(do func(context.Context, *node.CatalogSource, []string) error) func(*cobra.Command, []string) error {
	const makeFolder = false
	return a.onCatalog(makeFolder, do)
}

// onCatalog returns what a command runs that reads or changes the catalog of the running coordinator or, if
// there is none, of the data folder. A missing folder is created if makeFolder is true, else it is an error.
func (a *app) onCatalog(makeFolder bool, do func(context.Context, *node.CatalogSource, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) (err error) {
		cfg, err := a.load(c)
		if err != nil {
			return err
		}
		source, err := node.OpenCatalog(c.Context(), cfg, a.newLogger(cfg), makeFolder)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, source.Close()) }()
		return do(c.Context(), source, args)
	}
}

// refusedArgument makes a usage error of an error that the coordinator or the code index returned for an
// invalid argument, so that it exits as if the command had refused the argument.
func refusedArgument(err error) error {
	if errors.Is(err, fault.ErrInvalid) && !errors.Is(err, errReported) {
		return usageError(err.Error())
	}
	return err
}

// The settings that commands read which are not modes. The help of a command lists no others.
var (
	coordinatorKeys = []string{"data", "host", "http", "token", "ca"} // with withCoordinator
	catalogKeys     = append(slices.Clone(coordinatorKeys), "log-level", "log-format")
	codeKeys        = append(slices.Clone(catalogKeys), "search", "search-prefix")                    // of commands that read or change the code index
	visitKeys       = append(slices.Clone(catalogKeys), "visit-policy", "visit-rules", "host-groups") // of commands that ask when origins are visited
	addKeys         = slices.Concat(visitKeys, fetchKeys, gitKeys)                                    // of the command that visits origins
	gitKeys         = []string{"git-schemes", "git-hosts", "git-token", "git-ssh"}
	fetchKeys       = []string{"fetch-max-bytes", "fetch-stall", "fetch-redirects", "cache-bytes", "allow-private", "contact"}
)

// newLogger logs to standard error as configured. A reload changes its level.
func (a *app) newLogger(cfg config.Config) *slog.Logger {
	a.level.Set(cfg.LogLevel)
	a.log.divert(a.err)
	opts := &slog.HandlerOptions{Level: &a.level, ReplaceAttr: withUnit}
	if cfg.LogFormat == config.LogJSON {
		return slog.New(slog.NewJSONHandler(&a.log, opts))
	}
	return slog.New(slog.NewTextHandler(&a.log, opts))
}

// withUnit writes a duration as text such as 1.5s, because JSON would have nanoseconds without a unit.
func withUnit(_ []string, at slog.Attr) slog.Attr {
	if at.Value.Kind() == slog.KindDuration {
		at.Value = slog.StringValue(at.Value.Duration().String())
	}
	return at
}

// sayStarted prints to standard error that a mode has started. It prints JSON if the log is JSON, and text otherwise. The
// level of the log does not matter.
func (a *app) sayStarted(cfg config.Config, mode, text string, attrs ...any) {
	if cfg.LogFormat == config.LogJSON {
		slog.New(slog.NewJSONHandler(a.err, nil)).Info(mode+": started", attrs...)
		return
	}
	sayf(a.err, "%s: %s\n", mode, text)
}

// reloadingLogger is newLogger for a mode: at each SIGHUP the settings are read again,
// until stop is called.
func (a *app) reloadingLogger(ctx context.Context, cfg config.Config) (log *slog.Logger, stop func()) {
	log = a.newLogger(cfg)
	return log, node.ReloadOnHangup(ctx, cfg, func() (config.Config, error) { return config.Load(a.flags) }, &a.level, log)
}

// usageError is an error that the user can fix on the command line.
type usageError string

func (u usageError) Error() string        { return string(u) }
func (u usageError) Is(target error) bool { return target == fault.ErrUsage }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }
