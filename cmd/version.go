package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"leasehold/shared/process/build"
)

// newVersion is `leasehold version`.
func (a *app) newVersion() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := readBuild()
			if asJSON {
				return a.printJSON(b)
			}
			_, err := fmt.Fprint(a.out, b)
			return err
		},
	}
	bindJSON(c, &asJSON)
	return c
}

// bindVersion adds the flag --version, which prints what `leasehold version` prints.
func bindVersion(root *cobra.Command) {
	root.Flags().Bool("version", false, "print the version")
	root.Version = readBuild().String()
	root.SetVersionTemplate("{{.Version}}")
}

type buildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// String is the line that people read.
func (b buildInfo) String() string {
	return fmt.Sprintf("leasehold %s %s %s\n", b.Version, b.Go, b.Platform)
}

// readBuild returns what the program was built from. The revision is empty unless it was built in
// a work tree of git.
func readBuild() buildInfo {
	b := buildInfo{Version: build.Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	return b
}
