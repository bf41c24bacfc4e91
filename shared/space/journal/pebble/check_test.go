package pebble

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
)

// leading is a record that leads from one position to another.
func leading(from, to journal.Position) logRecord {
	step := codec.Step{From: from}
	step.Position = to
	text := codec.AppendStep(nil, step)
	payload := append(append(make([]byte, 12), 1, byte(len(codec.StandingKey()))), codec.StandingKey()...)
	return logRecord{at: int(from), end: int(to), payload: append(binary.AppendUvarint(payload, uint64(len(text))), text...)}
}

// A journal that loses a record in the middle without a notice would do work twice or never.
func TestTheRecordsOfTheLogsLeadOnFromTheTablesWithoutAGap(t *testing.T) {
	t.Parallel()
	logOf := func(clean bool, records ...logRecord) *logFile {
		return &logFile{name: "000004.log", scanned: scanned{records: records, clean: clean, end: 77}}
	}
	whole := func(records ...logRecord) *logFile { return logOf(true, records...) }
	copied, behind := whole(leading(10, 11)), logOf(false, leading(10, 11))
	copied.original, behind.behind = 3, true
	const tables = 10
	for name, c := range map[string]struct {
		logs []*logFile
		end  journal.Position
		torn bool
		says string
	}{
		"no log":                        {nil, 10, false, ""},
		"an empty log":                  {[]*logFile{whole()}, 10, false, ""},
		"behind the tables":             {[]*logFile{whole(leading(10, 12), leading(12, 13)), whole(leading(13, 14))}, 14, false, ""},
		"before the tables, and behind": {[]*logFile{whole(leading(7, 9), leading(9, 12))}, 12, false, ""},
		"all before the tables":         {[]*logFile{whole(leading(7, 9))}, 10, false, ""},
		"without a step":                {[]*logFile{whole(leading(10, 10), leading(10, 11))}, 11, false, ""},
		"torn at the end":               {[]*logFile{whole(leading(10, 11)), logOf(false, leading(11, 12))}, 12, true, ""},
		"torn, and an empty log":        {[]*logFile{logOf(false, leading(10, 11)), whole()}, 11, true, ""},
		"torn, and records":             {[]*logFile{logOf(false, leading(10, 11)), whole(leading(11, 12))}, 0, false, "at offset 77: this is not a record, but records follow in 000004.log"},
		"records behind the damage":     {[]*logFile{behind}, 0, false, "at offset 77: this is not a record, but records follow"},
		"a copy":                        {[]*logFile{copied}, 0, false, "log 000003 under another name"},
		"a gap behind the tables":       {[]*logFile{whole(leading(11, 12))}, 0, false, "at offset 11: this record leads on from position 11, but the ones before it end at 10: a log is missing"},
		"a gap between records":         {[]*logFile{whole(leading(10, 11), leading(12, 13))}, 0, false, "position 12, but the ones before it end at 11"},
		"a log twice":                   {[]*logFile{whole(leading(10, 11)), whole(leading(10, 11))}, 0, false, "leads on from position 10, where the journal was before it came to 11: a log is here twice"},
		"of another program":            {[]*logFile{whole(leading(10, 11), logRecord{at: 55, payload: []byte("x")})}, 0, false, "at offset 55: this record is not of a journal"},
	} {
		end, torn, err := checkLogs(c.logs, tables)
		require.Equal(t, c.end, end, name)
		require.Equal(t, c.torn, torn != nil, name)
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, fault.ErrCorrupt, name)
		require.ErrorContains(t, err, c.says, name)
	}
}

func TestDamageIsNamedWithItsFileAndOffset(t *testing.T) {
	t.Parallel()
	for at, want := range map[int]string{wholeFile: "f: w", 0: "f at offset 0: w", 9: "f at offset 9: w"} {
		require.Equal(t, want, damage{file: "f", at: at, what: "w"}.Error())
	}
	c := Config{Dir: "data/journal"}.withDefaults()
	require.NotContains(t, c.nameJournal(syscall.EIO).Error(), "repair")
	require.ErrorContains(t, c.nameJournal(damage{file: "f"}), "journal data/journal: f at offset 0: ; leasehold repair --data data ")
}

// The kind decides which remedy a message names, and whether a repair is offered.
func TestAnErrorOfTheSystemOrTheStoreHasAKind(t *testing.T) {
	t.Parallel()
	other := errors.New("something else")
	for _, c := range []struct{ err, classified, damaged error }{
		{syscall.EACCES, fault.ErrPermission, fault.ErrPermission},
		{syscall.EPERM, fault.ErrPermission, fault.ErrPermission},
		{syscall.EROFS, fault.ErrPermission, fault.ErrPermission},
		{syscall.ENOTDIR, fault.ErrFolder, fault.ErrFolder},
		{fs.ErrExist, fault.ErrFolder, fault.ErrFolder},
		{fs.ErrNotExist, fault.ErrFolder, fault.ErrCorrupt},
		{lsm.ErrCorruption, fault.ErrCorrupt, fault.ErrCorrupt},
		{damage{file: "f"}, fault.ErrCorrupt, fault.ErrCorrupt},
		{fault.ErrInvalid, fault.ErrInvalid, fault.ErrInvalid},
		{syscall.EIO, nil, nil},
		{other, nil, fault.ErrCorrupt},
	} {
		wrapped := fmt.Errorf("open: %w", c.err)
		require.ErrorIs(t, classify(wrapped), c.err)
		require.Equal(t, c.classified, fault.Of(classify(wrapped)).Kind, "%v", c.err)
		require.ErrorIs(t, damaged(wrapped), c.err)
		require.Equal(t, c.damaged, fault.Of(damaged(wrapped)).Kind, "%v, of a file that must be there", c.err)
	}
	require.NoError(t, classify(nil))
	both := classify(fmt.Errorf("%w: %w", fault.ErrCorrupt, lsm.ErrCorruption))
	require.Equal(t, fmt.Sprint(fault.ErrCorrupt, ": ", lsm.ErrCorruption), both.Error(), "it has its kind once")
}

func TestTheKeyAfterAPrefixIsBehindAllThatBeginWithIt(t *testing.T) {
	t.Parallel()
	for prefix, want := range map[string]string{"a": "b", "ab": "ac", "a\xff": "b", "a\xff\xff": "b", "\x01\xfe": "\x01\xff", "a\x00": "a\x01"} {
		given := []byte(prefix)
		require.Equal(t, want, string(after(given)), "%q", prefix)
		require.Equal(t, prefix, string(given), "the prefix stays")
	}
}
