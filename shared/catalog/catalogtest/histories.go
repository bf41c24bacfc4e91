package catalogtest

import "testing"

func exerciseHistories(t *testing.T, open Open) {}
