//go:build !unix

package pgserver

import (
	"errors"
	"os/exec"
)

func own(string) error      { return nil }
func runAs(*exec.Cmd) error { return nil }
func apart(*exec.Cmd)       {}

func interrupt(int) error { return errors.ErrUnsupported }
func kill(int) error      { return errors.ErrUnsupported }
func suspend(int) error   { return errors.ErrUnsupported }
func resume(int) error    { return errors.ErrUnsupported }
