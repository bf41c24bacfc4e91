package cmd

import (
	"io"
	"path/filepath"
	"strings"

	"leasehold/models"
)

// tellDetected writes for each folder of recordings among origins, whose kind was not named, what it was taken
// for and how to change that: only its name distinguishes clips from episodes. Folders that a manifest lists are
// left out, because they are not in args.
func (a *app) tellDetected(w io.Writer, origins []models.Origin, args []string, kind string) error {
	if kind != "" {
		return nil
	}
	named := map[string]bool{}
	for _, arg := range args {
		if path, err := filepath.Abs(arg); err == nil {
			named[path] = true
		}
	}
	for _, o := range origins {
		var is, other string
		var otherKind models.OriginKind
		switch {
		case !named[o.URI]:
			continue
		case o.Kind == models.Media:
			is, other, otherKind = "episodes", "clips to look for", models.Clips
		case o.Kind == models.Clips:
			is, other, otherKind = "clips, because of its name", "episodes", models.Media
		default:
			continue
		}
		data := a.dataFlag()
		_, err := sayf(w, "%s was taken for a folder of %s; if its recordings are %s: leasehold origin remove%s %s; leasehold origin add%s --kind %s %s\n",
			o.URI, is, other, data, o.ID, data, otherKind, shellWord(o.URI))
		if err != nil {
			return err
		}
	}
	return nil
}

// dataFlag returns --data with the folder as the user named it, for commands that a message proposes; "" if the
// commands find the folder themselves.
func (a *app) dataFlag() string {
	f := a.flags.Lookup("data")
	if f == nil || !f.Changed {
		return ""
	}
	return " --data " + shellWord(f.Value.String())
}

// shellWord quotes a text for a shell, unless it needs no quotes.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
