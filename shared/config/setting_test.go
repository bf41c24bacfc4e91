package config

import (
	"regexp"
	"slices"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestEverySettingIsWellFormed(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	var seen []string
	for _, s := range settings {
		require.Regexp(t, form, s.key)
		require.NotContains(t, seen, s.key)
		require.NotEmpty(t, s.help, s.key)
		require.NotEmpty(t, s.accepts(), s.key)
		if s.defaultValue != "" {
			require.NoError(t, s.field(new(Config)).set(s.defaultValue), s.key)
		}
		require.Contains(t, groups, s.group, s.key)
		require.Equal(t, s.key == "mode", s.usedBy == 0, "%s: which modes use it?", s.key)
		seen = append(seen, s.key)
	}
	require.NotContains(t, seen, fileFlag)
}

func TestNoTwoSettingsShareAField(t *testing.T) {
	t.Parallel()
	var c Config
	for _, s := range settings {
		if s.defaultValue == "" {
			continue
		}
		before := slices.DeleteFunc(c.Values(), func(v Value) bool { return v.Key == s.key })
		require.NoError(t, s.field(&c).set(s.defaultValue))
		after := slices.DeleteFunc(c.Values(), func(v Value) bool { return v.Key == s.key })
		require.Equal(t, before, after, s.key)
	}
}

func TestBindFlagsAddsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	BindFlags(flags, "data", "log-level")
	require.NotNil(t, flags.Lookup("config"))
	require.NotNil(t, flags.Lookup("data"))
	require.Nil(t, flags.Lookup("drain"))
	require.Panics(t, func() { BindFlags(pflag.NewFlagSet("", pflag.ContinueOnError), "nonsense") })
}

func TestWhatIsShownIsAccepted(t *testing.T) {
	t.Parallel()
	for _, s := range settings {
		if s.defaultValue == "" {
			continue
		}
		var a, b Config
		require.NoError(t, s.field(&a).set(s.defaultValue))
		require.NoError(t, s.field(&b).set(s.field(&a).String()), s.key)
		require.Equal(t, a, b, s.key)
	}
}

func TestAModeHasOnlyTheSettingsThatItUses(t *testing.T) {
	t.Parallel()
	require.Contains(t, KeysOf(Worker), "slots")
	require.NotContains(t, KeysOf(Worker), "listen")
	require.NotContains(t, KeysOf(Run), "host")
	require.Contains(t, KeysOf(Coordinator), "listen")
	require.NotContains(t, KeysOf(Manager), "mode")
	require.Empty(t, KeysOf("nonsense"))
}

func TestFlagsAreGroupedInTheOrderOfTheGroups(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.Bool("until-idle", false, "")
	flags.Bool("secret", false, "")
	require.NoError(t, flags.MarkHidden("secret"))
	BindFlags(flags, "slots", "data", "host")
	var seen []string
	for _, g := range GroupFlags(flags) {
		g.Flags.VisitAll(func(f *pflag.Flag) { seen = append(seen, g.Title+": "+f.Name) })
	}
	require.Equal(t, []string{": until-idle", "Data and logs: config", "Data and logs: data", "Network: host", "Workers: slots"}, seen)
}
