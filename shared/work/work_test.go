package work_test

import (
	"testing"

	"go.uber.org/goleak"

	"leasehold/shared/work/worktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProtocolsInProcess(t *testing.T) { worktest.Exercise(t, worktest.Direct) }
