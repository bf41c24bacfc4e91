package docs

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const recording = root + "/docs/demo.svg"

// A line that the demo printed, and how long after its start.
type line struct {
	text   string
	at     time.Duration
	stdout bool
}

var outLine = regexp.MustCompile(`<text class="out"[^>]*>([^<]*)</text>`)

// TestRecordingIsUpToDate compares the standard output that the recording shows with a
// run of the demo. What the demo prints about its progress depends on the machine and is
// not compared.
func TestRecordingIsUpToDate(t *testing.T) {
	t.Parallel()
	lines := recordDemo(t)
	if *update {
		require.NoError(t, os.WriteFile(recording, drawRecording(lines), 0o600))
	}
	content, err := os.ReadFile(recording)
	require.NoError(t, err)
	var recorded, printed []string
	for _, m := range outLine.FindAllStringSubmatch(string(content), -1) {
		recorded = append(recorded, html.UnescapeString(m[1]))
	}
	for _, l := range lines {
		if l.stdout {
			printed = append(printed, l.text)
		}
	}
	require.Equal(t, printed, recorded, "docs/demo.svg is old: make recording")
}

// recordDemo runs what `make demo` runs.
func recordDemo(t *testing.T) (lines []line) {
	t.Helper()
	c := exec.Command(filepath.Join(binaryDir, "leasehold"), "run", "examples/podcast", "--until-idle", "--data", filepath.Join(t.TempDir(), "data"))
	c.Dir, c.Env = root, append(os.Environ(), "TERM=dumb")
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	stderr, err := c.StderrPipe()
	require.NoError(t, err)
	start := time.Now()
	require.NoError(t, c.Start())
	var mu sync.Mutex
	var readers sync.WaitGroup
	for i, pipe := range []io.Reader{stdout, stderr} {
		readers.Go(func() {
			for s := bufio.NewScanner(pipe); s.Scan(); {
				mu.Lock()
				lines = append(lines, line{strings.TrimRight(s.Text(), " "), time.Since(start), i == 0})
				mu.Unlock()
			}
		})
	}
	readers.Wait()
	require.NoError(t, c.Wait())
	return lines
}

// drawRecording draws a terminal in which the lines appear when they were printed. In a
// viewer without animations all are visible.
func drawRecording(lines []line) []byte {
	const rowHeight, left = 18, 14
	widest := 0
	for _, l := range lines {
		widest = max(widest, len([]rune(l.text)))
	}
	width, height := 2*left+widest*8, (len(lines)+2)*rowHeight+10
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="monospace" font-size="13">`+"\n", width, height)
	b.WriteString("<title>make demo</title>\n<style>text { white-space: pre; fill: #ddd; animation: show 0.1s backwards } .err { fill: #9c9 } @keyframes show { from { opacity: 0 } }</style>\n")
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#1c1c1c"/>` + "\n")
	row := func(i int, class, text string, at time.Duration) {
		fmt.Fprintf(&b, `<text class="%s" x="%d" y="%d" xml:space="preserve" style="animation-delay: %.2fs">%s</text>`+"\n",
			class, left, (i+1)*rowHeight+8, at.Seconds(), html.EscapeString(text))
	}
	row(0, "command", "$ make demo", 0)
	for i, l := range lines {
		class := "err"
		if l.stdout {
			class = "out"
		}
		row(i+1, class, l.text, 500*time.Millisecond+l.at+time.Duration(i)*30*time.Millisecond)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}
