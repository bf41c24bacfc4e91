package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/node"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
)

// inviteRoles are the roles of processes that join.
var inviteRoles = []string{config.Worker, config.Manager}

// inviteFlags are the flags of `leasehold invite`.
type inviteFlags struct {
	types.NewInvite
	expires life
	out     string // folder for join lines; empty: they are printed
	form    *output
}

// newInvite is `leasehold invite`.
func (a *app) newInvite() *cobra.Command {
	var f inviteFlags
	c := &cobra.Command{
		Use:   "invite worker|manager…",
		Short: "make a join line, with which processes join",
		Long: `Make a join line, with which workers or managers on other machines join this
coordinator (--join LINE, --join @FILE, LEASEHOLD_JOIN). Who has the line can
join, so pass it on as a secret.

A line lasts for a day and any number of processes. A process without a disk
cannot come back after that: for the replicas of a service use --service, whose
line has no end. --uses 1 is for one machine with a disk.

It works on a running coordinator, and on a data folder without one.`,
		Example: `  leasehold invite worker
  leasehold invite --service worker manager --out secrets`,
		Args: cobra.RangeArgs(1, len(inviteRoles)),
	}
	flags := c.Flags()
	flags.BoolVar(&f.Service, "service", false, "for the replicas of a service: any number of uses, and no end")
	flags.IntVar(&f.Uses, "uses", 0, "processes that may join; 0 is any number")
	flags.Var(&f.expires, "expires", "time for which processes can join, such as 90d (default 24h)")
	flags.StringVar(&f.Name, "name", "", "name for people")
	flags.StringSliceVar(&f.Addresses, "addresses", nil, "addresses of the gate in the line (default: those of the coordinator)")
	flags.StringVar(&f.out, "out", "", "folder for the files worker.join and manager.join, in place of printing")
	f.form = bindOutput(c)
	config.BindFlags(flags, coordinatorKeys...)
	c.RunE = func(c *cobra.Command, args []string) error { return a.invite(c, f, args) }
	return c
}

// invite makes a join line for each role, and prints them or writes them into files.
func (a *app) invite(c *cobra.Command, f inviteFlags, roles []string) error {
	for _, role := range roles {
		if !slices.Contains(inviteRoles, role) {
			return usagef("invite %s: want worker or manager", role)
		}
	}
	f.NewInvite.Expires = models.SecondsOf(f.expires.Duration)
	cfg, err := a.load(c)
	if err != nil {
		return err
	}
	var made []inviteRow
	err = node.WithInvites(c.Context(), cfg, a.newLogger(cfg), func(create func(context.Context, types.NewInvite) (types.Invite, error)) error {
		for _, role := range roles {
			f.Role = role
			i, err := create(c.Context(), f.NewInvite)
			if err != nil {
				return refusedArgument(err)
			}
			made = append(made, inviteRow{i})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.handOut(f, made)
}

// handOut writes join lines into the folder of the flags, or prints them.
func (a *app) handOut(f inviteFlags, made []inviteRow) error {
	switch {
	case f.out != "":
		return a.writeJoinFiles(f.out, made)
	case f.form.structured():
		return show(a, f.form, made, "")
	}
	for _, i := range made {
		if _, err := sayf(a.out, "%s\n", i.Join); err != nil {
			return err
		}
		if i.Expires != nil {
			sayf(a.err, "Processes can join with this line until %s. One without a disk cannot come back after that (see --service).\n", i.Expires.Local().Format(time.DateTime))
		}
	}
	return nil
}

// writeJoinFiles writes the join line of each role into a file ROLE.join, readable for the group, because the user of the
// image is another one.
func (a *app) writeJoinFiles(folder string, made []inviteRow) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, i := range made {
		file := filepath.Join(folder, i.Role+".join")
		err := os.WriteFile(file, []byte(i.Join+"\n"), 0o644)
		if err == nil {
			_, err = sayf(a.out, "wrote %s\n", file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inviteRow is an invite as a row.
type inviteRow struct{ types.Invite }

func (r inviteRow) columns() []column {
	uses := fmt.Sprint(r.Used)
	if r.Uses > 0 {
		uses = fmt.Sprintf("%d of %d", r.Used, r.Uses)
	}
	return []column{
		{head: "invite", cell: r.ID}, {head: "role", cell: r.Role}, {head: "name", cell: r.Name, rare: true},
		{head: "age", cell: ageSince(r.Created)}, {head: "ends", cell: endText(r.Expires)}, {head: "used by", cell: uses}, {head: "last use", cell: timeText(r.Latest)},
	}
}

// endText returns the time at which something ends; "never" for nil.
func endText(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return timeText(t)
}

func timeText(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

func ageSince(t time.Time) string { return time.Since(t).Round(time.Second).String() }

// newInvites is `leasehold invites`.
func (a *app) newInvites() *cobra.Command {
	c := &cobra.Command{Use: "invites", Short: "list and revoke invites"}
	list := &cobra.Command{Use: "list", Short: "print the invites, without their join lines"}
	asRow := func(i types.Invite) inviteRow { return inviteRow{i} }
	revoke := &cobra.Command{
		Use: "revoke ID…", Short: "revoke invites, so that no process joins by them any more",
		Long: "Revoke invites, so that no process joins by them any more. Processes that have\njoined stay; leasehold peers revoke ends them.",
		Args: cobra.MinimumNArgs(1),
	}
	c.AddCommand(listCommand(a, list, (*client.Client).Invites, asRow, "no invites"), a.coordinatorCommand(revoke, func(ctx context.Context, api *client.Client, args []string) error {
		return a.revokeEach(args, func(id string) (string, error) { return "invite " + id, api.RevokeInvite(ctx, id) })
	}))
	return c
}

// revokeEach revokes each thing that is named, and prints a line for each.
func (a *app) revokeEach(names []string, revoke func(string) (what string, err error)) error {
	var errs []error
	for _, name := range names {
		what, err := revoke(name)
		if err == nil {
			_, err = sayf(a.out, "revoked %s\n", what)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
