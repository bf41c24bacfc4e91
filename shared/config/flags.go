package config

import (
	"github.com/spf13/pflag"
)

// fileFlag names the file; it is not a setting, since it says where they are.
const fileFlag = "config"

// BindFlags adds --config, and the flag of each setting named by keys (of all
// when none is), to flags. The flags only keep what was said; Load reads it. It
// panics on a key that is no setting.
func BindFlags(flags *pflag.FlagSet, keys ...string) {
	flags.Var(&flagText{kind: "path"}, fileFlag, "file of settings (default: ./leasehold.yaml, else the one in the user's configuration folder)")
	if len(keys) == 0 {
		for _, s := range Settings {
			bindFlag(flags, s)
		}
	}
	for _, k := range keys {
		s, ok := settingByKey(k)
		if !ok {
			panic("config: no setting " + k)
		}
		bindFlag(flags, s)
	}
}

func bindFlag(flags *pflag.FlagSet, s Setting) {
	v := s.field(new(Config))
	_, list := v.(hosts)
	flags.Var(&flagText{text: s.Default, kind: v.kind(), list: list}, s.Key, s.Help)
}

// flagText keeps the text of a flag as it was said.
type flagText struct {
	text string
	kind string
	list bool // a repeated flag adds to it
	said bool
}

func (f *flagText) Set(text string) error {
	if f.list && f.said {
		text = f.text + "," + text
	}
	f.text, f.said = text, true
	return nil
}
func (f *flagText) String() string { return f.text }
func (f *flagText) Type() string   { return f.kind }
