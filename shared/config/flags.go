package config

import (
	"slices"

	"github.com/spf13/pflag"
)

// fileFlag names the file of settings. It is not a setting, because it says where they are.
const fileFlag = "config"

// groupAnnotation is the annotation of a flag that holds its group.
const groupAnnotation = "leasehold-group"

// BindFlags adds --config and the flag of each setting that keys names to flags. The flags only keep their text;
// Load reads it. The texts of a repeated flag of a list are joined; of any other the last counts. It panics on an
// unknown key.
func BindFlags(flags *pflag.FlagSet, keys ...string) {
	flags.SortFlags = false // related settings are together in the table
	flags.Var(&flagText{kind: "path"}, fileFlag, "file of settings (default: ./leasehold.yaml, else leasehold/leasehold.yaml in the user's configuration folder)")
	_ = flags.SetAnnotation(fileFlag, groupAnnotation, []string{general}) // the flag exists
	for _, key := range keys {
		s, ok := settingByKey(key)
		if !ok {
			panic("config: no setting " + key)
		}
		v := s.field(new(Config))
		separator := ""
		switch v.(type) {
		case hosts, gates, patterns:
			separator = ","
		case commands:
			separator = "\n"
		}
		_, isBool := v.(truth)
		flags.Var(&flagText{text: s.defaultValue, kind: v.kind(), separator: separator}, key, s.help)
		if isBool {
			flags.Lookup(key).NoOptDefVal = "true" // the flag alone means true
		}
		_ = flags.SetAnnotation(key, groupAnnotation, []string{s.group}) // the flag exists
	}
}

// settingsOf returns the flags that BindFlags has added. A command may have a flag of its own
// with the name of a setting.
func settingsOf(flags *pflag.FlagSet) *pflag.FlagSet {
	found := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[groupAnnotation] != nil {
			found.AddFlag(f)
		}
	})
	return found
}

// A FlagGroup is the flags of related settings, under a title for help texts.
type FlagGroup struct {
	Title string // empty: flags that are not settings
	Flags *pflag.FlagSet
}

// GroupFlags divides flags that are not hidden into groups, first those that are not
// settings. It leaves out empty groups.
func GroupFlags(flags *pflag.FlagSet) []FlagGroup {
	var all []FlagGroup
	for _, title := range append([]string{""}, groups...) {
		group := pflag.NewFlagSet(title, pflag.ContinueOnError)
		group.SortFlags = false
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && slices.Equal(f.Annotations[groupAnnotation], groupOf(title)) {
				group.AddFlag(f)
			}
		})
		if group.HasFlags() {
			all = append(all, FlagGroup{title, group})
		}
	}
	return all
}

// groupOf returns the annotation of flags in a group; nil if title is empty.
func groupOf(title string) []string {
	if title == "" {
		return nil
	}
	return []string{title}
}

// flagText keeps the text of a flag.
type flagText struct {
	text      string
	kind      string
	separator string // between the texts of a repeated flag; empty: the last one counts
	set       bool
}

// Set keeps the text of a flag; with a separator, the texts of a repeated flag are joined by it.
// It never fails, because values are checked after all sources are merged.
func (f *flagText) Set(text string) error {
	if f.separator != "" && f.set {
		text = f.text + f.separator + text
	}
	f.text, f.set = text, true
	return nil
}
func (f *flagText) String() string { return f.text }
func (f *flagText) Type() string   { return f.kind }
