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
	for _, s := range Settings {
		require.Regexp(t, form, s.Key)
		require.NotContains(t, seen, s.Key)
		require.NotEmpty(t, s.Help, s.Key)
		require.NotEmpty(t, s.Accepts(), s.Key)
		if s.Default != "" {
			require.NoError(t, s.field(new(Config)).set(s.Default), s.Key)
		}
		seen = append(seen, s.Key)
	}
	require.NotContains(t, seen, fileFlag)
}

func TestNoTwoSettingsShareAField(t *testing.T) {
	t.Parallel()
	var c Config
	for _, s := range Settings {
		if s.Default == "" {
			continue
		}
		before := slices.DeleteFunc(c.Values(), func(v Value) bool { return v.Key == s.Key })
		require.NoError(t, s.field(&c).set(s.Default))
		after := slices.DeleteFunc(c.Values(), func(v Value) bool { return v.Key == s.Key })
		require.Equal(t, before, after, s.Key)
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
	for _, s := range Settings {
		if s.Default == "" {
			continue
		}
		var a, b Config
		require.NoError(t, s.field(&a).set(s.Default))
		require.NoError(t, s.field(&b).set(s.field(&a).String()), s.Key)
		require.Equal(t, a, b, s.Key)
	}
}

func TestDistanceCountsEditsAndSwaps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"run", "run", 0}, {"rnu", "run", 1}, {"wroker", "worker", 1}, {"kitten", "sitting", 3}} {
		require.Equal(t, c.want, distance(c.a, c.b), c)
		require.Equal(t, c.want, distance(c.b, c.a), c)
	}
}

func TestNothingIsSuggestedThatIsFarAway(t *testing.T) {
	t.Parallel()
	require.Empty(t, meant("x", Modes))
	require.Empty(t, meant("elephants", Modes))
	require.Equal(t, " (did you mean manager?)", meant("manger", Modes))
}
