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
)

// Load resolves every setting: from flags that were said (flags may be nil, and
// may lack some), else the environment of the process, else the file, else its
// default. The error is an Invalid, and the Config is then of no use. A command
// that does not have --insecure does not listen, so it may name any address.
func Load(flags *pflag.FlagSet) (Config, error) {
	host := flags == nil || flags.Lookup("insecure") != nil
	if flags == nil {
		flags = pflag.NewFlagSet("", pflag.ContinueOnError)
	}
	l := loader{flags: flags, viper: viper.NewWithOptions(viper.KeyDelimiter("::"))}
	l.wrong = unknownEnv(os.Environ())

	var cfg Config
	if cfg.file = findFile(l.fileNamed()); cfg.file != "" {
		var wrong Invalid
		l.entries, wrong = readFile(cfg.file)
		l.wrong = append(l.wrong, wrong...)
	}
	if err := l.merge(); err != nil {
		return Config{}, err
	}
	cfg.sources = make(map[string]string, len(Settings))
	for _, s := range Settings {
		l.resolve(s, &cfg)
	}
	if len(l.wrong) == 0 { // rules between values need the values
		l.wrong = broken(cfg, host)
	}
	if len(l.wrong) > 0 {
		return Config{}, l.wrong
	}
	return cfg, nil
}

// A loader is one run of Load.
type loader struct {
	flags   *pflag.FlagSet
	viper   *viper.Viper
	entries map[string]entry
	wrong   Invalid
}

// fileNamed returns the file that --config, else LEASEHOLD_CONFIG names.
func (l *loader) fileNamed() string {
	if f := l.flags.Lookup(fileFlag); f != nil && f.Changed {
		return f.Value.String()
	}
	return os.Getenv(fileEnv)
}

const fileEnv = envPrefix + "CONFIG"

// merge tells viper of every place a value may come from.
func (l *loader) merge() error {
	fromFile := make(map[string]any, len(l.entries))
	for k, e := range l.entries {
		fromFile[k] = e.text
	}
	errs := []error{l.viper.MergeConfigMap(fromFile)}
	for _, s := range Settings {
		l.viper.SetDefault(s.Key, s.defaultText())
		errs = append(errs, l.viper.BindEnv(s.Key, s.EnvName()))
		if f := l.flags.Lookup(s.Key); f != nil {
			errs = append(errs, l.viper.BindPFlag(s.Key, f))
		}
	}
	return errors.Join(errs...)
}

// resolve sets s in cfg, or notes what is wrong with its value.
func (l *loader) resolve(s Setting, cfg *Config) {
	source := l.source(s)
	cfg.sources[s.Key] = source
	text := l.viper.GetString(s.Key)
	if source == sourceDefault && text == "" {
		if s.fallback != nil {
			l.wrong = append(l.wrong, Fault{Key: s.Key, Text: fmt.Sprintf("%s is not set, and there is no home folder to take it from; say --%s or %s",
				s.Key, s.Key, s.EnvName())})
		}
		return
	}
	v := s.field(cfg)
	if err := v.set(text); err != nil {
		f := Fault{Key: s.Key, Source: source, Text: fmt.Sprintf("%s must be %s; got %q", s.Key, v.accepts(), text)}
		switch v := v.(type) {
		case word:
			f.Text += meant(text, v.words)
		case level:
			f.Text += meant(text, levels)
		}
		l.wrong = append(l.wrong, f)
	}
}

const sourceDefault = "default"

// source says where viper takes s from: it knows the order, not the place.
func (l *loader) source(s Setting) string {
	if f := l.flags.Lookup(s.Key); f != nil && f.Changed {
		return "--" + s.Key
	}
	if os.Getenv(s.EnvName()) != "" {
		return "environment variable " + s.EnvName()
	}
	if e, ok := l.entries[s.Key]; ok {
		return e.source
	}
	return sourceDefault
}

// userData is leasehold in the folder where programs keep a user's data, or
// empty when the user has none.
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

// unknownEnv finds the variables that look like settings and are none.
func unknownEnv(environ []string) Invalid {
	known := map[string]bool{fileEnv: true}
	names := []string{fileEnv}
	for _, s := range Settings {
		known[s.EnvName()] = true
		names = append(names, s.EnvName())
	}
	var wrong Invalid
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, envPrefix) || known[name] {
			continue
		}
		wrong = append(wrong, Fault{Key: name, Source: "environment variable " + name,
			Text: fmt.Sprintf("there is no such setting%s; `leasehold config show` lists them all", meant(name, names))})
	}
	sort.Slice(wrong, func(i, j int) bool { return wrong[i].Key < wrong[j].Key })
	return wrong
}
