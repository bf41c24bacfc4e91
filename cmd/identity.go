package cmd

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
)

// newIdentity is `leasehold identity`.
func (a *app) newIdentity() *cobra.Command {
	c := &cobra.Command{Use: "identity", Short: "show and change the identity of a coordinator that authenticates"}
	c.AddCommand(a.newIdentityShow(), a.newIdentityRotate(), a.newIdentityKey())
	return c
}

// newIdentityKey is `leasehold identity key`.
func (a *app) newIdentityKey() *cobra.Command {
	return &cobra.Command{
		Use: "key", Short: "print a new key for coordinators that share a database",
		Long: `Print a new key. It encrypts the key of the CA in the database that several
coordinators share; give the same one to each of them, as a file that only its
user can read (--identity-key @FILE). Who has this key and can read the database
can join any process.`,
		Example: `  (umask 077; leasehold identity key >identity.key)
  leasehold coordinator --journal postgres --database @database.url --identity-key @identity.key`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := sayf(a.out, "%s\n", node.NewIdentityKey())
			return err
		},
	}
}

// newIdentityShow is `leasehold identity show`.
func (a *app) newIdentityShow() *cobra.Command {
	var ca bool
	c := &cobra.Command{
		Use: "show", Short: "print the fingerprint of the coordinator, or its CA certificate",
		Long: `Print the fingerprint of the coordinator, which commands take as --ca, or the
certificate of its CA, for a browser and for clients that verify names. While
the CA changes (leasehold identity rotate), print both.`,
		Args: cobra.NoArgs,
		RunE: a.withConfig(func(_ context.Context, cfg config.Config) error {
			i, err := node.ShowIdentity(cfg)
			if err != nil {
				return err
			}
			if ca {
				_, err = a.out.Write([]byte(i.Certificate))
				return err
			}
			if _, err := sayf(a.out, "%s\n", i.CAs()); err != nil || i.Former == nil {
				return err
			}
			_, err = sayf(a.err, "The CA changes: %s is accepted until %s.\n", i.Former.Fingerprint, localTime(i.Former.Until))
			return err
		}),
	}
	c.Flags().BoolVar(&ca, "ca", false, "print the CA certificate as PEM")
	config.BindFlags(c.Flags(), "data")
	return c
}

// newIdentityRotate is `leasehold identity rotate`.
func (a *app) newIdentityRotate() *cobra.Command {
	until := "30d"
	c := &cobra.Command{
		Use: "rotate", Short: "change the CA of the coordinator",
		Long: `Make a new CA. The one of today is accepted until a time; then every process,
program and join line that knows only that is refused. Processes learn the new
CA when they renew their certificates, so after 24 hours each one that runs
knows it. Until the end, replace the join lines in files (leasehold invite; a
new one names both CAs) and the CA of programs and commands (leasehold identity
show). If the key was stolen, use --until now: then each process needs a new
join line at once.

It works on a running coordinator, and on a data folder without one.`,
		Example: `  leasehold identity rotate
  leasehold identity rotate --until 2027-01-31T00:00:00Z`,
		Args: cobra.NoArgs,
		RunE: a.withConfig(func(ctx context.Context, cfg config.Config) error {
			end, err := parseEnd("--until", until, time.Now())
			if err != nil {
				return err
			}
			i, err := node.RotateIdentity(ctx, cfg, a.newLogger(cfg), end)
			if err != nil {
				return err
			}
			if i.Former == nil {
				_, err = sayf(a.out, "The CA is %s now, and no other is accepted: give each process a new join line.\n", i.Fingerprint)
				return err
			}
			_, err = sayf(a.out, "The CA is %s now. %s is accepted until %s: replace join lines and --ca before that.\n", i.Fingerprint, i.Former.Fingerprint, localTime(i.Former.Until))
			return err
		}),
	}
	c.Flags().StringVar(&until, "until", until, "time, or time from now, until which the CA of today is accepted: 30d, 2027-01-31T00:00:00Z or now")
	config.BindFlags(c.Flags(), coordinatorKeys...)
	return c
}

func localTime(t time.Time) string { return t.Local().Format(time.DateTime) }

// parseEnd reads a time, or a duration from now, such as 90m or 30d; "now" is now. The error is a usage error that names
// the flag.
func parseEnd(flag, text string, now time.Time) (time.Time, error) {
	if text == "now" {
		return now, nil
	}
	if d, err := parseSpan(text); err == nil && d > 0 {
		return now.Add(d), nil
	}
	t, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	if err != nil || !t.After(now) {
		return t, usagef("%s must be now, a time from now, such as 30d, or a time to come, such as 2027-01-31T00:00:00Z; got %q", flag, text)
	}
	return t, nil
}
