package cmd

import (
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
	"leasehold/tup4fun/page"
)

// newTupServe is `leasehold tup4fun serve`.
func (a *app) newTupServe() *cobra.Command {
	var listen string
	var limits page.Limits
	usual := fmt.Sprintf("127.0.0.1:%d", config.PagePort)
	c := &cobra.Command{
		Use:   "serve",
		Short: "serve a page that draws, runs and checks models",
		Long: `Serve a page that draws, runs and checks models, for browsers on this machine
only. The page loads nothing from other servers, and this one stores nothing: a
link contains the whole session.`,
		Args: cobra.NoArgs,
	}
	c.Flags().StringVar(&listen, "listen", usual, "address of the page; port 0 is any free port")
	c.Flags().Int64Var(&limits.States, "states", 0, "maximum number of states of a request; 0 is 200000")
	c.Flags().DurationVar(&limits.Time, "time", 0, "maximum time of a request; 0 is 10s")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if !config.IsLoopback(listen) {
			return usagef("--listen must be an address of this machine alone, such as %s; got %q", usual, listen)
		}
		if limits.States < 0 || limits.Time < 0 {
			return usagef("--states and --time must not be negative")
		}
		p, err := page.New(limits)
		if err != nil {
			return err
		}
		ln, err := net.Listen("tcp", listen)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.out, "tup4fun is at http://%s/\n", ln.Addr()); err != nil {
			return err
		}
		return node.ServeHTTP(c.Context(), ln, p)
	}
	return c
}
