package cmd

import (
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"leasehold/shared/config"
)

// readers match the commands that read a setting, besides the modes and those of config. Commands that
// call a coordinator have data, host, http, token and ca; no others are listed with them.
var readers = map[string]string{
	"data": `.`, "host": `.`, "http": `.`, "token": `.`, "ca": `.`, "config": `.`,
	"join":          `^health$`,
	"mode":          `^health$`,
	"realm":         `^move$`,
	"identity-key":  `^move$`,
	"journal":       `^backup$`,
	"log-level":     catalogReaders + `|^visits replay$`,
	"log-format":    catalogReaders + `|^visits replay$`,
	"search":        `^(search|symbols|report|mcp|doctor|index rebuild|origin remove)$`,
	"search-prefix": `^(search|symbols|report|mcp|doctor|index rebuild|origin remove)$`,
	"search-views":  `^doctor$`, "search-shards": `^(doctor|index rebuild)$`, "search-replicas": `^(doctor|index rebuild)$`,
	"search-api-key": `^(doctor|index rebuild)$`, "search-bearer": `^(doctor|index rebuild)$`, "search-ca": `^(doctor|index rebuild)$`, "search-cert": `^(doctor|index rebuild)$`, "search-key": `^(doctor|index rebuild)$`,
	"visit-policy": visitReaders + `|^visits replay$`,
	"visit-rules":  visitReaders + `|^visits replay$`,
	"host-groups":  visitReaders,
	"git-schemes":  `^origin add$`, "git-hosts": `^origin add$`, "git-token": `^origin add$`, "git-ssh": `^origin add$`,
	"fetch-max-bytes": `^origin add$`, "fetch-stall": `^origin add$`, "fetch-redirects": `^origin add$`,
	"cache-bytes": `^origin add$`, "allow-private": `^origin add$`, "contact": `^origin add$`,
}

const (
	catalogReaders = `^((clips|episode) (list|show|set|retry)|findings|search|symbols|report|mcp|backup|autoscale|origin .*|visits (next|capacity))$`
	visitReaders   = `^(origin (add|set|show|enable|disable|save-now)|visits (next|capacity))$`
)

func TestACommandListsTheSettingsThatItReadsAndNoOthers(t *testing.T) {
	t.Parallel()
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		name := nameOf(c)
		if !c.HasParent() || c.GroupID == runGroup || c.Parent().Name() == "config" || !c.HasLocalFlags() {
			return
		}
		listed := map[string]bool{}
		for _, g := range config.GroupFlags(c.LocalFlags()) {
			g.Flags.VisitAll(func(f *pflag.Flag) { listed[f.Name] = g.Title != "" })
		}
		for key, isSetting := range listed {
			if isSetting {
				require.Regexp(t, regexp.MustCompile(readers[key]), name, "--%s", key)
				require.NotEmpty(t, readers[key], "%s: --%s", name, key)
			}
		}
		for key, of := range readers {
			if of != "." && regexp.MustCompile(of).MatchString(name) {
				require.True(t, listed[key], "%s reads --%s", name, key)
			}
		}
	}
	visit((&app{}).newRoot())
}
