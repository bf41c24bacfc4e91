package cmd

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/code/elastic"
	"leasehold/shared/config"
)

// newIndex is `leasehold index`.
func (a *app) newIndex() *cobra.Command {
	c := &cobra.Command{Use: "index", Short: "rebuild the code index on a search server"}
	c.AddCommand(a.newIndexRebuild())
	return c
}

// newIndexRebuild is `leasehold index rebuild`.
func (a *app) newIndexRebuild() *cobra.Command {
	c := &cobra.Command{
		Use: "rebuild", Short: "write the code index on a search server again, with other shards",
		Long: `Copy blobs and files of the code index on a search server into new indices, with
the shards and replicas that are set, and the mapping of this version. Searches
and indexing go on, with the indices before. At the end the server refuses
writes for a moment, which indexing repeats, and searches use the new indices.

The coordinator removes the indices before after ten minutes, so the server
needs space for both. If the command is interrupted, nothing has changed, and
the next call continues.`,
		Example: "  leasehold index rebuild --search http://127.0.0.1:9200 --search-shards 6",
		Args:    cobra.NoArgs,
	}
	config.BindFlags(c.Flags(), "search", "search-prefix", "search-shards", "search-replicas", "search-api-key", "search-bearer", "search-ca", "search-cert", "search-key")
	c.RunE = a.withConfig(func(ctx context.Context, cfg config.Config) error {
		if cfg.Search == "" {
			return usagef("index rebuild: --search URL is needed: only an index on a search server is rebuilt")
		}
		bars := a.newBars()
		done, err := node.RebuildIndex(ctx, cfg, a.newLogger(cfg), func(r elastic.Rebuilding) {
			bars.show(int64(r.Blobs+r.Files), int64(r.AllBlobs+r.AllFiles), "copied", strings.Join(r.Indices, ", "))
		})
		bars.close()
		if err != nil {
			return err
		}
		_, err = sayf(a.out, "%s: %s, %s in %s; writes were refused for %s\n", strings.Join(done.Indices, ", "), count(done.Blobs, "blob"), count(done.Files, "file"),
			done.Took.Round(time.Millisecond), done.NoWriting.Round(time.Millisecond))
		return err
	})
	return c
}
