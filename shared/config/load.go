package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"leasehold/shared/process/wording"
)

// Load resolves every setting: from its flag if that was set, else from the environment of the process, else from
// the file, else its default. A command uses the settings whose flags it has bound: rules between settings hold
// only if it uses both, because one file or environment may serve several modes. Flags may be nil; all rules hold
// then. Errors that the user can fix are an Invalid.
func Load(flags *pflag.FlagSet) (Config, error) {
	uses := func(string) bool { return true }
	if flags == nil {
		flags = pflag.NewFlagSet("", pflag.ContinueOnError)
	} else {
		flags = settingsOf(flags)
		uses = func(key string) bool { return flags.Lookup(key) != nil }
	}
	l := loader{flags: flags, viper: viper.NewWithOptions(viper.KeyDelimiter("::"))}
	l.wrong = unknownEnv(os.Environ())

	var cfg Config
	cfg.file = findFile(l.fileNamed())
	if cfg.file != "" {
		var wrong Invalid
		l.entries, wrong = readFile(cfg.file)
		l.wrong = append(l.wrong, wrong...)
	}
	if err := l.mergeSources(); err != nil {
		return Config{}, err
	}
	cfg.sources = make(map[string]string, len(settings))
	for _, s := range settings {
		l.resolveSetting(s, &cfg)
	}
	if len(l.wrong) == 0 { // rules compare values, so all values must be valid
		l.wrong = brokenRules(cfg, uses)
	}
	if len(l.wrong) > 0 {
		return Config{}, l.wrong
	}
	return cfg, nil
}

// A loader is one call of Load.
type loader struct {
	flags   *pflag.FlagSet
	viper   *viper.Viper
	entries map[string]entry
	wrong   Invalid
}

// fileNamed returns the file that --config or else LEASEHOLD_CONFIG names, or "".
func (l *loader) fileNamed() string {
	if f := l.flags.Lookup(fileFlag); f != nil && f.Changed {
		return f.Value.String()
	}
	return os.Getenv(fileEnv)
}

const fileEnv = envPrefix + "CONFIG"

// mergeSources gives viper every place that a value may come from: the file, the defaults, the environment and
// the flags that the command has bound. viper takes flags before the environment, that before the file, and
// defaults last.
func (l *loader) mergeSources() error {
	fromFile := make(map[string]any, len(l.entries))
	for k, e := range l.entries {
		fromFile[k] = e.text
	}
	errs := []error{l.viper.MergeConfigMap(fromFile)}
	for _, s := range settings {
		l.viper.SetDefault(s.key, s.defaultText())
		errs = append(errs, l.viper.BindEnv(append([]string{s.key}, s.envNames()...)...))
		if f := l.flags.Lookup(s.key); f != nil {
			errs = append(errs, l.viper.BindPFlag(s.key, f))
		}
	}
	return errors.Join(errs...)
}

// resolveSetting sets s in cfg, or adds a fault to l.wrong if its value is not accepted. A setting without a
// value and a default stays zero; if its default needs a home folder and the user has none, it adds a fault.
func (l *loader) resolveSetting(s setting, cfg *Config) {
	source := l.source(s)
	cfg.sources[s.key] = source
	text := l.viper.GetString(s.key)
	if source == sourceDefault && text == "" {
		if s.userDefault != nil {
			l.wrong = append(l.wrong, Fault{Key: s.key, Text: fmt.Sprintf("%s is not set, and the user has no home folder for its default; set --%s or %s",
				s.key, s.key, s.envName())})
		}
		return
	}
	v := s.field(cfg)
	if err := v.set(text); err != nil {
		f := Fault{Key: s.key, Source: source, Text: fmt.Sprintf("%s must be %s; got %q", s.key, v.accepts(), text)}
		switch v := v.(type) {
		case word:
			f.Text += wording.DidYouMean(text, v.words)
		case level:
			f.Text += wording.DidYouMean(text, levels)
		case webURL, webURLs:
			f.Text = fmt.Sprintf("%s must be %s; the value is not repeated here, because it may have a password", s.key, v.accepts())
		}
		l.wrong = append(l.wrong, f)
	}
}

const sourceDefault = "default"

// source returns where viper takes s from, because viper knows the order but not the place. It
// must have the order of Load.
func (l *loader) source(s setting) string {
	if f := l.flags.Lookup(s.key); f != nil && f.Changed {
		return "--" + s.key
	}
	for _, name := range s.envNames() {
		if os.Getenv(name) != "" {
			return "environment variable " + name
		}
	}
	if e, ok := l.entries[s.key]; ok {
		return e.source
	}
	return sourceDefault
}

// userData returns leasehold in the folder where programs keep a user's data; empty if the
// user has no home folder.
func userData() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "leasehold")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "leasehold")
	case "windows":
		return filepath.Join(home, "AppData", "Local", "leasehold")
	}
	return filepath.Join(home, ".local", "share", "leasehold")
}

// unknownEnv returns a fault for each unknown variable LEASEHOLD_…, by name, apart from commandEnvs.
func unknownEnv(environ []string) Invalid {
	known := map[string]bool{fileEnv: true}
	for _, name := range commandEnvs {
		known[name] = true
	}
	names := []string{fileEnv}
	for _, s := range settings {
		for _, name := range s.envNames() {
			known[name] = true
			names = append(names, name)
		}
	}
	var wrong Invalid
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, envPrefix) || known[name] {
			continue
		}
		wrong = append(wrong, Fault{Key: name, Source: "environment variable " + name,
			Text: fmt.Sprintf("unknown setting%s; `leasehold config show` lists all settings", wording.DidYouMean(name, names))})
	}
	sort.Slice(wrong, func(i, j int) bool { return wrong[i].Key < wrong[j].Key })
	return wrong
}
