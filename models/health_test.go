package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

func TestHealthIsASentence(t *testing.T) {
	t.Parallel()
	for want, counts := range map[string][3]int{ // items of each severity
		"All work goes on.":                      {0, 0, 3},
		"One thing stops work.":                  {1, 0, 0},
		"Two things degrade work.":               {0, 2, 1},
		"Two things stop work, one degrades it.": {2, 1, 0},
		"12 things stop work, three degrade it.": {12, 3, 0},
	} {
		var items []models.Attention
		for n, severity := range models.Severities {
			for range counts[n] {
				items = append(items, models.Attention{Severity: severity})
			}
		}
		require.Equal(t, want, models.HealthOf(items).Sentence())
	}
}
