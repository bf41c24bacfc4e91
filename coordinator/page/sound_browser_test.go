//go:build browser

package page_test

import (
	"net/http/httptest"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"leasehold/internal/browser"
)

func TestAClickOnAFindingOrThePicturePlaysFromThere(t *testing.T) {
	h := newFixture(t)
	server := httptest.NewServer(h.handler)
	t.Cleanup(server.Close)
	episode, _, file := h.addShow("The show", "jingle")
	b := browse(t, "preferredColorScheme=1,autoplayPolicy=0")
	b.open(server.URL + "/archive/episodes/" + episode)
	b.Do(chromedp.Click(`a.play[data-hear="104"]`), browser.Until(`document.getElementById("sound").currentTime > 104`))
	require.Less(t, value[float64](b, `document.getElementById("sound").currentTime`), 112.)
	require.Equal(t, "visible", value[string](b, `document.querySelector(".playhead").getAttribute("visibility")`))
	value[bool](b, `(() => { const box = document.querySelector("svg.wave").getBoundingClientRect();
		document.querySelector("svg.wave").dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + 120 })); })(); true`)
	b.Do(browser.Until(`Math.abs(document.getElementById("sound").currentTime - 60) < 5`))
	b.Quiet("sound")

	require.NoError(t, os.Remove(file))
	b.open(server.URL + "/archive/episodes/" + episode + "?again")
	b.Do(chromedp.Click(`a.play[data-hear="2"]`), browser.Until(`document.getElementById("sound-error").textContent.includes("cannot be played")`))
	b.picture("episode-gone")
	require.Contains(t, value[string](b, `document.getElementById("sound-error").textContent`), "no such file")
}
