package fingerprint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"leasehold/shared/clips/inverted"
	"leasehold/shared/process/platform"
)

// Examine reads the landmarks and segments in the folder of a Store, and returns a line for each file that was cut or
// changed. Of a sound that an earlier version has stored it compares only the length, because it has no check sum. It
// changes nothing, and a Store may use the folder. A folder that does not exist has no damage. It fails with the cause of ctx.
func Examine(ctx context.Context, dir string) (damage []string, err error) {
	for _, kind := range []struct {
		suffix string
		read   func(path string) error
	}{{marksSuffix, examineEntry}, {segmentSuffix, examineSegment}} {
		paths, err := platform.Glob(dir, "*"+kind.suffix)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err := kind.read(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // evicted meanwhile
				damage = append(damage, fmt.Sprintf("%s: %v", path, err))
			}
		}
	}
	return damage, nil
}

// examineEntry reads the landmarks at path, and the sound beside them.
func examineEntry(path string) error {
	marks, err := platform.OpenShared(path)
	if err != nil {
		return err
	}
	e, err := openEntry(marks, strings.TrimSuffix(path, marksSuffix)+soundSuffix)
	if err != nil {
		return errors.Join(err, marks.Close())
	}
	if e.sound != nil {
		err = checkSound(e.sound, e.Samples)
	}
	return errors.Join(err, e.Close())
}

// examineSegment reads the segment at path. The garbage collector unmaps it.
func examineSegment(path string) error {
	_, err := inverted.Open(path)
	return err
}
