package ci

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stubGo stands for go. Its two runs of tests wait for each other at a named pipe. Then each prints 100 events of
// 20 kB, and ends with the status that the environment has for it.
const stubGo = `#!/bin/sh
[ "$1" = list ] && { echo leasehold/cmd; echo leasehold/node; exit 0; }
case " $* " in
*" -race "*) read -r met <"$MEET"; name=raced status=$RACED ;;
*) echo met >"$MEET"; name=others status=$OTHERS ;;
esac
text=$(head -c 20000 /dev/zero | tr '\0' x)
for n in $(seq 100); do echo "{\"Action\":\"output\",\"Package\":\"$name\",\"Output\":\"$text\"}"; done
exit $status
`

func TestTestsWithAndWithoutRaceRunAtTheSameTimeAndTheirEventsAreWhole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raced, others string
		ok            bool
	}{
		"both pass": {"0", "0", true}, "with -race fails": {"1", "0", false}, "without -race fails": {"0", "1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			meet := filepath.Join(dir, "meet")
			require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(stubGo), 0o700))
			require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", meet).Run())
			events := exec.CommandContext(t.Context(), ".ci/events", "./...")
			events.Dir = "../.."
			events.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "TMPDIR="+dir, "MEET="+meet, "RACED="+c.raced, "OTHERS="+c.others)
			out, err := events.Output()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
				require.NoError(t, err)
			}
			require.Equal(t, c.ok, err == nil)
			count := map[string]int{}
			for line := range strings.Lines(string(out)) {
				var event struct{ Package string }
				require.NoError(t, json.Unmarshal([]byte(line), &event), "%.200s", line)
				count[event.Package]++
			}
			require.Equal(t, map[string]int{"raced": 100, "others": 100}, count)
			left, err := filepath.Glob(filepath.Join(dir, "tmp.*"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}
