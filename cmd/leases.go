package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// leaseRow is a lease as a row.
type leaseRow struct{ types.Lease }

func (r leaseRow) columns() []column {
	return []column{
		{head: "lease", cell: r.ID}, {head: "holder", cell: r.Holder}, {head: "subject", cell: r.Subject, fit: cut}, {head: "parts", cell: fmt.Sprint(len(r.Parts))},
		{head: "part ids", cell: strings.Join(r.Parts, ", "), detail: true}, {head: "deadline", cell: when(r.Deadline)}, {head: "token", cell: fmt.Sprint(r.Token)},
	}
}

// newLeases is `leasehold leases`.
func (a *app) newLeases() *cobra.Command {
	c := &cobra.Command{
		Use:   "leases",
		Short: "print the leases of managers",
		Long: `Print the leases of managers: who holds each, on what, and when it expires. A
lease whose task a worker has does not expire.`,
	}
	return listCommand(a, c, (*client.Client).Leases, func(l types.Lease) leaseRow { return leaseRow{l} }, "no leases")
}
