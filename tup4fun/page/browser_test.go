//go:build browser

package page_test

import (
	"context"
	"net/url"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/page"
)

// hung is the time limit for a browser that starts for the first time on a slow machine.
const hung = 5 * time.Minute

// browse opens a tab in the headless Chromium that .ci/tools installs.
func browse(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium-headless-shell")
	require.NoError(t, err, "apt-get install chromium-headless-shell")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(hung))
	all, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	tab, shut := chromedp.NewContext(all)
	t.Cleanup(shut)
	tab, end := context.WithTimeout(tab, hung)
	t.Cleanup(end)
	return tab
}

// until waits until an expression in the page is true.
func until(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(hung))
}

// value runs an action and returns its result.
func value[T any](t *testing.T, tab context.Context, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(tab, a)
	require.NoError(t, err)
	return v
}

func TestAStudentFindsTheDeadlock(t *testing.T) {
	s := serve(t, page.Limits{})
	tab := browse(t)
	require.NoError(t, chromedp.Do(tab, chromedp.Navigate(s.URL), chromedp.WaitVisible("#states svg")))
	require.Equal(t, "violated", value(t, tab, chromedp.Text("#outcome b")))
	require.Equal(t, 2, value(t, tab, chromedp.Evaluate[int](`document.querySelectorAll("#verdicts svg line[marker-end]").length`)))
	require.Contains(t, value(t, tab, chromedp.Text("#counts")), "1 stuck, 0 terminated")

	first := chromedp.Click("#choices button:nth-of-type(1)")
	has := func(steps string) chromedp.Action[chromedp.Void] {
		return until(`document.querySelectorAll("#steps li").length === ` + steps)
	}
	require.NoError(t, chromedp.Do(tab,
		until(`document.querySelectorAll("#choices button").length > 0`),
		first, has("1"), first, has("2"),
		chromedp.Click("#steps li:nth-child(2) button"), has("1"),
	))
	link := value(t, tab, chromedp.Evaluate[string](`location.href`))

	require.NoError(t, chromedp.Do(tab, chromedp.Navigate("about:blank"), chromedp.Navigate(link), chromedp.WaitVisible("#steps li"), has("1")))
	require.Equal(t, "extendable", value(t, tab, chromedp.Text("#choices span")))
	require.Contains(t, value(t, tab, chromedp.Text("#end")), "Fork has")

	parseErrors := s.URL + "/#" + url.PathEscape(`{"init":"x = 0","program":"y := <img src=x onerror=alert(1)>","choices":[]}`)
	require.NoError(t, chromedp.Do(tab, chromedp.Navigate("about:blank"), chromedp.Navigate(parseErrors), chromedp.WaitVisible("#errors li")))
	require.Contains(t, value(t, tab, chromedp.Text("#errors")), "program, line 1:")
	require.Zero(t, value(t, tab, chromedp.Evaluate[int](`document.querySelectorAll("img").length`)))
}
