package models_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/models"
)

func TestAnIDIsStableAndDependsOnEachPart(t *testing.T) {
	t.Parallel()
	require.Equal(t, models.NewID("a", "b"), models.NewID("a", "b"))
	require.NotEqual(t, models.NewID("a", "b"), models.NewID("ab"))
	require.NotEqual(t, models.NewID("a", "b"), models.NewID("b", "a"))
	require.NotEqual(t, models.NewID("a", ""), models.NewID("a"))
	rapid.Check(t, func(t *rapid.T) {
		id := models.NewID(rapid.SliceOf(rapid.String()).Draw(t, "parts")...)
		if len(id) != 12 || !models.ValidID(id) {
			t.Fatalf("got %q", id)
		}
	})
}

func TestFault52AnIDIsOneOfItsCharacters(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"a": true, "A-z.0_9:x": true, strings.Repeat("x", 128): true,
		"": false, strings.Repeat("x", 129): false, "a b": false, "a\n": false, "../a": false, "-rf;": false, "é": false,
	} {
		require.Equal(t, want, models.ValidID(id), "%q", id)
	}
}

func TestAPositionIsShownInMinutesAndHundredths(t *testing.T) {
	t.Parallel()
	for s, want := range map[models.Seconds]string{
		0: "0:00.00", 7.3: "0:07.30", 59.996: "1:00.00", 754.56: "12:34.56", 3661: "61:01.00", -1.5: "-0:01.50",
	} {
		require.Equal(t, want, s.Clock())
	}
	require.Equal(t, 1500*time.Millisecond, models.Seconds(1.5).Duration())
	require.Equal(t, models.Seconds(90), models.SecondsOf(90*time.Second))
}

func TestSecondsArePrintedAsADecimalNumber(t *testing.T) {
	t.Parallel()
	for s, want := range map[models.Seconds]string{0: "0", -5: "-5", .25: "0.25", 2_592_000: "2592000", 1e-9: "0.000000001", 1e300: "1e+300"} {
		require.Equal(t, want, fmt.Sprintf("%v", s))
	}
}

func ExampleSeconds_Clock() {
	fmt.Println(models.Seconds(754.56).Clock())
	// Output: 12:34.56
}
