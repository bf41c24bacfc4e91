//go:build browser

package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/page"
)

// keepSaved keeps what Save writes in window.saved.
const keepSaved = `(() => { const create = URL.createObjectURL;
	URL.createObjectURL = (b) => { b.text().then((t) => { window.saved = t }); return create(b) }; return "" })()`

func TestAProgramOfTheLargestSizeIsCheckedSavedAndOpened(t *testing.T) {
	s := serve(t, page.Limits{})
	tab := browse(t)
	const rest = "x := 1; skip"
	large := strings.Repeat("//\"\n", (256<<10-len(rest))/4) + rest // in a file, a line has six bytes
	do(t, tab, chromedp.Navigate(s.URL), text("#outcome", "violated"), write("init", "x = 0"), write("program", large), chromedp.Click("#go"),
		text("#outcome", "holds"), text("#processes", "line 65534"), is(1, "#states svg"),
		chromedp.Click("#choices button"), is(1, "#steps li"),
		chromedp.Evaluate[string](keepSaved), chromedp.Click("#save"), until(`window.saved`))
	file := filepath.Join(t.TempDir(), "session.json")
	require.NoError(t, os.WriteFile(file, []byte(value(t, tab, chromedp.Evaluate[string](`window.saved`))), 0o600))
	do(t, tab, write("program", "skip"), is(0, "#steps li"), chromedp.SetUploadFiles("#open", []string{file}), is(1, "#steps li"), text("#variables", "x=1"),
		until(fmt.Sprintf(`document.getElementById("program").value.length === %d`, len(large))),
		// The work ends when the text changes.
		chromedp.Click("#go"), text("#status", "working"), write("program", "skip"), text("#status", "cancelled"), is(0, "#verdicts div"))
}
