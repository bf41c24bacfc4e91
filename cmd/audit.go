package cmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// auditRow is a record of the audit as a row.
type auditRow struct{ types.AuditRecord }

func (r auditRow) columns() []column {
	who := r.Name
	if who == "" {
		who = r.Identity
	}
	return []column{
		{head: "at", cell: timeText(&r.At)}, {head: "who", cell: who}, {head: "from", cell: r.Address}, {head: "action", cell: r.Action},
		{head: "object", cell: r.Object}, {head: "outcome", cell: r.Outcome},
	}
}

// newAudit is `leasehold audit`.
func (a *app) newAudit() *cobra.Command {
	since := life{time.Hour}
	limit := 1000
	c := &cobra.Command{
		Use: "audit", Short: "print the latest changes that people and programs made",
		Long: "Print the latest changes that people and programs made, the oldest first: who\nmade each one, when, from where, and what came of it.",
	}
	c.Flags().Var(&since, "since", "age of the oldest record, such as 30d")
	c.Flags().IntVar(&limit, "limit", limit, "number of records, the latest")
	get := func(api *client.Client, ctx context.Context) ([]types.AuditRecord, error) {
		return api.Audit(ctx, since.Duration, limit)
	}
	return listCommand(a, c, get, func(r types.AuditRecord) auditRow { return auditRow{r} }, "no changes")
}
