package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandsAreSplitWithoutAShell(t *testing.T) {
	var list []Command
	v := commands{&list}
	require.NoError(t, v.set("resize=convert -resize '50 %' - a,b.png\n\n  greet=sh -c \"echo $HOME; exit 3\"\n"))
	require.Equal(t, []Command{
		{"resize", []string{"convert", "-resize", "50 %", "-", "a,b.png"}},
		{"greet", []string{"sh", "-c", "echo $HOME; exit 3"}},
	}, list)
	again := list
	require.NoError(t, v.set(v.String()))
	require.Equal(t, again, list, "its text is read back")
	for _, wrong := range []string{"resize", "resize=", "=true", "a b=true", "research=true", "a=true\na=false", "a='open"} {
		require.ErrorIs(t, v.set(wrong), errNotAccepted, wrong)
		require.Equal(t, again, list)
	}
}
