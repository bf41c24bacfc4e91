//go:build browser

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Hung is the time limit for a browser that starts for the first time on a slow machine.
const Hung = 5 * time.Minute

// Tab is a tab of a headless Chromium. Its methods fail the test if the browser does.
type Tab struct {
	testing.TB
	ctx context.Context

	mu     sync.Mutex // guards errors
	errors []string   // that the console showed
}

// Open starts a browser with settings of Blink, such as preferredColorScheme=0 for dark, and returns its tab. Both end
// with the test.
func Open(t testing.TB, settings string) *Tab {
	t.Helper()
	path, err := exec.LookPath("chromium-headless-shell")
	require.NoError(t, err, "apt-get install chromium-headless-shell")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(Hung), chromedp.Flag("blink-settings", settings))
	all, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	b := &Tab{TB: t}
	ctx, shut := chromedp.NewContext(all, chromedp.WithListener(b.note))
	t.Cleanup(shut)
	b.ctx = ctx
	return b
}

// Another opens another tab in the same browser.
func (b *Tab) Another() *Tab {
	b.Helper()
	next := &Tab{TB: b.TB}
	ctx, shut := chromedp.NewContext(b.ctx, chromedp.WithListener(next.note))
	b.Cleanup(shut)
	next.ctx = ctx
	return next
}

// note keeps what the console shows as an error, and exceptions of scripts.
func (b *Tab) note(event any) {
	name := fmt.Sprintf("%T", event)
	if !strings.HasSuffix(name, "EventEntryAdded") && !strings.HasSuffix(name, "EventExceptionThrown") {
		return
	}
	text, err := json.Marshal(event)
	if err != nil {
		text = []byte(err.Error())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = append(b.errors, fmt.Sprintf("%s: %.500s", name, text))
}

// Quiet requires that the console has shown no error.
func (b *Tab) Quiet(what string) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b, b.errors, what)
}

// Forget forgets the errors that the console has shown.
func (b *Tab) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = nil
}

// Do runs steps one after the other.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	for i, step := range steps {
		_, err := chromedp.Run(b.ctx, step)
		require.NoError(b, err, "step %d", i)
	}
}

// Value evaluates an expression in the page.
func Value[T any](b *Tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(b, err, expression)
	return v
}

// Arrives waits until an expression is true on a page that is being loaded.
func (b *Tab) Arrives(expression string) {
	b.Helper()
	require.Eventually(b, func() bool {
		there, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression))
		return err == nil && there
	}, Hung, Hung/3000, expression)
}

// Until waits until an expression in the page is true.
func Until(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(Hung))
}

// Picture writes the whole page to path, with the folders that it needs.
func (b *Tab) Picture(path string) {
	b.Helper()
	data, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	require.NoError(b, err)
	require.NoError(b, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(b, os.WriteFile(path, data, 0o644))
}
