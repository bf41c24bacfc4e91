package lockedbuffer_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/lockedbuffer"
)

func TestLinesOfSeveralGoroutinesStayWhole(t *testing.T) {
	t.Parallel()
	const writers, lines = 8, 1000
	var b lockedbuffer.Buffer
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for range lines {
				_, _ = fmt.Fprintln(&b, "line")
			}
		})
	}
	_ = b.String() // it is read meanwhile
	writing.Wait()
	require.Equal(t, strings.Repeat("line\n", writers*lines), b.String())
}

func Example() {
	var b lockedbuffer.Buffer
	fmt.Fprint(&b, "written")
	fmt.Println(b.String())
	// Output: written
}
