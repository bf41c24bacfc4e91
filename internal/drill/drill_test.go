//go:build browser && linux

package drill

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/internal/browser"
	"leasehold/models"
)

var (
	seedFlag   = flag.Uint64("drill.seed", 0, "seed of the random faults; 0: a new one")
	roundsFlag = flag.Int("drill.rounds", 1, "how many times faults are chosen at random")
)

// program is the path of leasehold, built with failpoints, which include clocks that differ.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "drill")
	if err == nil {
		program = filepath.Join(dir, "leasehold")
		err = binary.Build(program, "-tags", "failpoints")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // a folder of the system's temporary files
	os.Exit(code)
}

// named is how soon the coordinator names a cause once its condition holds.
const named = 10 * time.Second

func TestEachCauseIsNamedFirstAndItsActionFixesIt(t *testing.T) {
	t.Parallel()
	for _, f := range faults() {
		t.Run(string(f.cause), func(t *testing.T) {
			t.Parallel()
			data := ""
			if f.disk {
				data = filepath.Join(smallDisk(t), "data")
			}
			r := newRig(t, data, f.flags)
			f.begin(r)
			item := r.await(f.cause)
			require.NotNil(t, item.Remedy)
			r.requireStatusNames(item)
			tab := browser.Open(t, "preferredColorScheme=1")
			r.requirePageNames(tab, item)
			if f.repair != nil {
				f.repair(r)
			}
			r.press(tab, item)
			tab.Quiet(string(f.cause))
			if f.after != nil {
				f.after(r)
			}
			binary.Eventually(t, "the item ends", func() bool { return !r.has(item) })
		})
	}
}

// together is how many faults are made at once.
const together = 3

func TestSeveralFaultsAtRandomAreAllNamedAndFixed(t *testing.T) {
	t.Parallel()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("go test -tags browser ./internal/drill -run '^%s$' -drill.seed %d -drill.rounds %d", t.Name(), seed, *roundsFlag)
	random := rand.New(rand.NewPCG(seed, 0))
	for range *roundsFlag {
		chosen := slices.DeleteFunc(faults(), func(f fault) bool { return f.alone })
		random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		chosen = chosen[:together]
		r := newRig(t, "", nil)
		for _, f := range chosen {
			t.Log(f.cause)
			f.begin(r)
		}
		tab := browser.Open(t, "preferredColorScheme=1")
		for _, f := range chosen {
			item := r.awaitAmong(f.cause)
			tab.Do(chromedp.Navigate("http://"+r.http+"/"), chromedp.WaitReady("#main"),
				browser.Until(fmt.Sprintf(`document.querySelector('li[data-key=%q]') !== null`, item.ID)))
			if f.repair != nil {
				f.repair(r)
			}
			r.press(tab, item)
			binary.Eventually(t, "the item ends", func() bool { return !r.has(item) })
		}
	}
}

// awaitAmong waits until a cause is one of the items of the API, and returns the first item that has it.
func (r *rig) awaitAmong(cause models.Cause) (item models.Attention) {
	r.Helper()
	binary.Eventually(r.T, string(cause)+" is named", func() bool {
		items := r.report()
		n := slices.IndexFunc(items, func(i models.Attention) bool { return i.Cause == cause })
		if n >= 0 {
			item = items[n]
		}
		return n >= 0
	})
	return item
}

// await waits until a cause is the first item of the API, and returns the item. It does so no longer than a user would
// have to.
func (r *rig) await(cause models.Cause) models.Attention {
	r.Helper()
	began := time.Now()
	for {
		items := r.report()
		if len(items) > 0 && items[0].Cause == cause {
			r.Logf("%s after %s: %s", cause, time.Since(began).Round(100*time.Millisecond), items[0].Text)
			return items[0]
		}
		require.Less(r, time.Since(began), named, "%s is not named, but: %v", cause, items)
		pass(50 * time.Millisecond)
	}
}

// has reports whether an item lasts.
func (r *rig) has(item models.Attention) bool {
	for _, i := range r.report() {
		if i.ID == item.ID {
			return true
		}
	}
	return false
}

// requireStatusNames requires that `leasehold status` begins with an item, and that --check fails if it stops work.
func (r *rig) requireStatusNames(item models.Attention) {
	r.Helper()
	first, _, _ := strings.Cut(r.run("status"), "\n")
	require.Contains(r, withoutNumbers(first), withoutNumbers(item.Text))
	require.True(r, strings.HasPrefix(first, item.Severity.String()), first)
	check := binary.Start(r.T, r.env(r.data), program, "status", "--check")
	require.Equal(r, item.Severity == models.StopsWork, check.Code() == 1, check.Output())
}

// withoutNumbers replaces the numbers of a text, because counts of a cause that lasts grow.
func withoutNumbers(text string) string { return digits.ReplaceAllString(text, "N") }

var digits = regexp.MustCompile(`\d+( [a-z]+s?\b)?`)

// requirePageNames requires that the overview names an item first.
func (r *rig) requirePageNames(tab *browser.Tab, item models.Attention) {
	r.Helper()
	tab.Do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate("http://"+r.http+"/"), chromedp.WaitReady("#main"))
	tab.Do(browser.Until(fmt.Sprintf(`document.querySelector(".attention li")?.dataset.key === %q`, item.ID)))
	require.Equal(r, withoutNumbers(item.Text), withoutNumbers(browser.Value[string](tab, `document.querySelector(".attention li .cause").textContent`)))
}

// press presses the button of an item on the overview, and confirms it if the page asks. An item that has ended has none.
func (r *rig) press(tab *browser.Tab, item models.Attention) {
	r.Helper()
	button := fmt.Sprintf(`li[data-key=%q] .acts`, item.ID)
	pressed := browser.Value[bool](tab, fmt.Sprintf(`(() => {
		const acts = document.querySelector(%q);
		const button = acts?.querySelector("form button");
		if (!button) return false;
		acts.querySelector("details.drop:has(form) summary")?.click();
		window.pressed = true;
		button.click();
		return true;
	})()`, button))
	require.True(r, pressed || !r.has(item), "no button for %s", item.Text)
	if pressed {
		tab.Arrives(`!window.pressed && document.querySelector("#main") !== null`)
		require.Empty(r, browser.Value[string](tab, `document.querySelector(".error")?.textContent ?? ""`))
	}
}
