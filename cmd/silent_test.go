package cmd

import (
	"bytes"
	"cmp"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asksCoordinator reports whether a command asks a running coordinator and ends. The commands
// of `leasehold config` have the flags of all settings; `leasehold mcp` gives each error to the
// assistant and goes on (mcp.txtar).
func asksCoordinator(c *cobra.Command) bool {
	return c.Runnable() && c.Parent() != nil && c.Parent().Name() != "config" && !c.HasSubCommands() && c.GroupID != runGroup && c.Name() != "mcp" && c.Flags().Lookup("host") != nil && c.Flags().Lookup("http") != nil
}

// commandsThatAsk returns the words of each command that asks a coordinator, with arguments.
func commandsThatAsk(t *testing.T, c *cobra.Command, words []string) (all [][]string) {
	t.Helper()
	for _, sub := range c.Commands() {
		all = append(all, commandsThatAsk(t, sub, append(slices.Clone(words), sub.Name()))...)
	}
	if !asksCoordinator(c) {
		return all
	}
	args := []string{}
	for c.ValidateArgs(args) != nil {
		require.Less(t, len(args), 5, words)
		args = append(args, cmp.Or(placeholders[c.Name()], "x"))
	}
	return append(all, append(words, args...))
}

// placeholders are the arguments that a command accepts, if it does not accept every word.
var placeholders = map[string]string{"invite": "worker"}

// needed are arguments that a command needs before it asks a coordinator.
var needed = map[string][]string{
	"autoscale":     {"--action", "x", "--max", "1", "--command", "true"},
	"health":        {"--mode", "coordinator"},
	"token create":  {"--role", "reader"},
	"episode set":   {"--priority", "1"},
	"clips set":     {"--priority", "1"},
	"clips retry":   {"x"},
	"dead requeue":  {"x"},
	"episode retry": {"x"},
}

// A listener accepts connections and never answers, as a coordinator in a debugger does.
func TestEveryCommandExits69IfTheCoordinatorDoesNotAnswer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var accepted []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			accepted = append(accepted, c)
		}
	}()
	t.Cleanup(func() {
		_ = silent.Close()
		<-done
		for _, c := range accepted {
			_ = c.Close()
		}
	})
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, refused.Close())
	commands := commandsThatAsk(t, (&app{}).newRoot(), nil)
	require.Greater(t, len(commands), 30)
	var running sync.WaitGroup
	for _, words := range commands {
		for name, where := range map[string][]string{
			"the API is silent":  {"--http", silent.Addr().String()},
			"the gate is silent": {"--host", silent.Addr().String()},
			"nothing listens":    {"--http", refused.Addr().String()},
		} {
			args := slices.Concat(words, needed[strings.TrimSuffix(strings.Join(words, " "), " x")], where, []string{"--data", t.TempDir()})
			running.Go(func() { // all at once, because each takes the time-out of a coordinator's answer
				var out, said bytes.Buffer
				assert.Equal(t, 69, (&app{out: &out, err: &said}).run(t.Context(), args), "%s: %s: %s", name, args, said.String())
				assert.Contains(t, said.String(), "unavailable", "%s: %s", name, args)
			})
		}
	}
	running.Wait()
}
