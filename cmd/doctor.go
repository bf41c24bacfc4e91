package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"leasehold/cmd/doctor"
	"leasehold/node"
	"leasehold/node/locate"
	"leasehold/shared/api/client"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// newDoctor is `leasehold doctor`.
func (a *app) newDoctor() *cobra.Command {
	var deep bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "check whether this machine is ready, with advice",
		Long: `Check the data folder, disk space, open files, clock, git and audio decoders of
this machine. The exit code is 1 if a check fails. A warning means that
something works less well.

--deep also reads all files of the data folder and looks for damage: the
database, the journal, the code index, fetched media, fingerprints and mirrors.
Database and journal are not read while a coordinator runs on the folder. It
reads its database each night itself; status and log show the result.

If a search server is configured, doctor shows its version, the id of its
cluster, and the shards and replicas of each index.

If a coordinator runs on the folder, doctor also shows what needs attention
there, as status does.

With --host or --http, doctor examines a coordinator and its fleet in place of
this machine: memory, catalog, disk, clocks, versions, access, and what else
needs attention. It only reads. If a search server is configured on this
machine, doctor compares the ids of its cluster and of the coordinator's: they
must be the same, or what workers of this machine write is not found.`,
		Example: "  leasehold doctor\n  leasehold doctor --host build.example.org",
		Args:    cobra.NoArgs,
	}
	o := bindOutput(c)
	c.Flags().BoolVar(&deep, "deep", false, "read all files of the data folder and look for damage, too")
	config.BindFlags(c.Flags(), append([]string{"search", "search-prefix", "search-views", "search-shards", "search-replicas", "search-api-key", "search-bearer", "search-ca", "search-cert", "search-key"}, coordinatorKeys...)...)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := a.load(c)
		if err != nil {
			return err
		}
		// Not by the environment variables, which containers of managers and workers have.
		if c.Flags().Changed("host") || c.Flags().Changed("http") {
			if deep {
				return usagef("--deep reads a data folder of this machine, so it cannot be combined with --host or --http")
			}
			return a.showFleet(c.Context(), o, cfg)
		}
		found := doctor.Examine(c.Context(), doctor.Folders{Data: cfg.Data, Deep: deep})
		if deep {
			found = append(found, doctor.Database(node.ExamineDatabase(c.Context(), cfg)), doctor.Journal(node.ExamineJournal(cfg, a.newLogger(cfg))))
		}
		if cfg.Search != "" {
			f, _ := examineSearch(c.Context(), cfg)
			found = append(found, f)
		}
		found = append(found, doctor.Attention(node.Attention(c.Context(), cfg))...)
		return a.showExam(o, found)
	}
	return c
}

// showFleet examines a coordinator and its fleet.
func (a *app) showFleet(ctx context.Context, o *output, cfg config.Config) error {
	return locate.Call(ctx, cfg, func(ctx context.Context, api *client.Client) error {
		f, err := doctor.ReadFleet(ctx, api)
		if err != nil {
			return err
		}
		found := doctor.ExamineFleet(f)
		if cfg.Search != "" {
			own, cluster := examineSearch(ctx, cfg)
			found = append(found, own)
			if cluster != "" {
				found = append(found, doctor.SearchCluster(cluster, f.Report.SearchCluster))
			}
		}
		return a.showExam(o, found)
	})
}

// examineSearch examines the search server of this machine, and returns the id of its cluster, too; empty if it does not
// answer.
func examineSearch(ctx context.Context, cfg config.Config) (found doctor.Finding, cluster string) {
	layout, err := node.ReadSearchLayout(ctx, cfg)
	return doctor.SearchServer(layout, err, cfg.SearchShards, cfg.SearchReplicas), layout.Cluster
}

// showExam prints findings, and fails if a check failed.
func (a *app) showExam(o *output, found []doctor.Finding) error {
	if err := show(a, o, examRows(found), "no checks"); err != nil {
		return err
	}
	if doctor.Failed(found) {
		return errors.Join(errReported, fault.ErrInvalid)
	}
	return nil
}

// examRow is a check as a row (docs/json.md).
type examRow struct {
	Check  string       `json:"check"`
	State  doctor.State `json:"state"`
	What   string       `json:"what"`
	Advice string       `json:"advice,omitempty"`
}

func (r examRow) columns() []column {
	return []column{
		{head: "check", cell: r.Check}, {head: "state", cell: string(r.State)}, {head: "details", cell: r.What, fit: wrap}, {head: "what to do", cell: r.Advice, fit: wrap},
	}
}

func examRows(found []doctor.Finding) []examRow {
	return rowsOf(found, func(f doctor.Finding) examRow { return examRow(f) })
}
