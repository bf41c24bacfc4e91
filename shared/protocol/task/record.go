package task

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
)

// recordVersion is the first byte of a record: the fields of a task that are neither in its tuple nor in its data. A
// record is a list of (tag, length, value), so that a new tag needs no new version; zero fields are left out.
const recordVersion = 1

// The tags of a record. They are never used again for something else.
const (
	tagSubject = iota + 1
	tagPart
	tagTimeout
	tagQueueTTL
	tagClaimant
	tagCurrentClaimant
	tagAttempts
	tagState
	tagAttempt
	tagCreatedAt
	tagClaimedAt
	tagNotBefore
	tagExpiresAt
	tagMaxAttempts
	tagBackoff
	tagUniqueKey
	tagGroup
	tagTag
	tagResultTuple
	tagResultTTL
	tagAfter
	tagOnFailure
	tagLimit
	tagOnLimit
	tagProgress
	tagHidden
	tagHiddenBy
	tagPending
	tagBehind
	tagRetryAt
	tagQueued
	tagPriority
	tagHost
	tagExisting
	tagDiedAt
	tagEndedAs
	tagForgiven
	tagLost
	tagOnlyFor
	tagOfferedAt
	tagQueuedAt
	tagBackAt
	tagTrace
)

// The tags of an attempt within a record.
const (
	tagWorker = iota + 1
	tagBegan
	tagEnded
	tagError
	tagOutput
)

// recordWriter appends fields to a record.
type recordWriter []byte

func (w *recordWriter) bytes(tag uint64, v string) {
	*w = binary.AppendUvarint(*w, tag)
	*w = binary.AppendUvarint(*w, uint64(len(v)))
	*w = append(*w, v...)
}

func (w *recordWriter) text(tag uint64, v string) {
	if v != "" {
		w.bytes(tag, v)
	}
}

func (w *recordWriter) texts(tag uint64, all []string) {
	for _, v := range all {
		w.bytes(tag, v)
	}
}

func (w *recordWriter) number(tag uint64, v int64) {
	if v != 0 {
		var buf [binary.MaxVarintLen64]byte
		w.bytes(tag, string(buf[:binary.PutVarint(buf[:], v)]))
	}
}

func (w *recordWriter) float(tag uint64, v float64) {
	if v != 0 {
		var buf [8]byte
		binary.BigEndian.PutUint64(buf[:], math.Float64bits(v))
		w.bytes(tag, string(buf[:]))
	}
}

func (w *recordWriter) time(tag uint64, t time.Time) {
	if !t.IsZero() {
		w.number(tag, t.UnixNano())
	}
}

func (w *recordWriter) flag(tag uint64, v bool) {
	if v {
		w.bytes(tag, "")
	}
}

// encodeRecord returns the record of a task.
func encodeRecord(i Item) string {
	w := make(recordWriter, 1, 96)
	w[0] = recordVersion
	w.number(tagForgiven, int64(i.forgiven)) // first, as the claimants, because a claim reads them
	w.texts(tagClaimant, i.Claimants)
	w.texts(tagHost, i.Hosts)
	w.text(tagSubject, i.Subject)
	w.texts(tagPart, i.Parts)
	w.float(tagTimeout, float64(i.Timeout))
	w.float(tagQueueTTL, float64(i.QueueTTL))
	w.text(tagCurrentClaimant, i.CurrentClaimant)
	w.number(tagAttempts, i.Attempts)
	w.text(tagState, i.State)
	for _, a := range i.History {
		var nested recordWriter
		nested.text(tagWorker, a.Worker)
		nested.time(tagBegan, a.ClaimedAt)
		nested.time(tagEnded, a.EndedAt)
		nested.text(tagError, a.Error)
		nested.text(tagOutput, a.Output)
		w.bytes(tagAttempt, string(nested))
	}
	w.time(tagCreatedAt, i.CreatedAt)
	w.time(tagClaimedAt, i.ClaimedAt)
	w.options(i.TaskOptions)
	if i.Progress != nil {
		w.bytes(tagProgress, string(binary.BigEndian.AppendUint64(nil, math.Float64bits(i.Progress.Fraction)))+i.Progress.Text)
	}
	w.text(tagHidden, string(i.Hidden))
	w.text(tagHiddenBy, i.HiddenBy)
	w.texts(tagPending, i.Pending)
	w.flag(tagBehind, i.Behind)
	w.time(tagRetryAt, i.RetryAt)
	w.flag(tagQueued, i.queued)
	w.flag(tagExisting, i.Existing)
	w.text(tagEndedAs, string(i.EndedAs))
	w.time(tagDiedAt, i.DiedAt)
	w.number(tagLost, i.Lost)
	w.text(tagOnlyFor, i.onlyFor)
	w.number(tagOfferedAt, int64(i.offeredAt))
	w.time(tagQueuedAt, i.queuedAt)
	w.time(tagBackAt, i.backAt)
	w.number(tagPriority, i.Priority) // of a dead letter, whose tuple has none
	return string(w)
}

// options appends the options that are set; recordReader.setOption reads them.
func (w *recordWriter) options(o models.TaskOptions) {
	w.time(tagNotBefore, o.NotBefore)
	w.time(tagExpiresAt, o.ExpiresAt)
	w.number(tagMaxAttempts, o.MaxAttempts)
	w.float(tagBackoff, float64(o.Backoff))
	w.text(tagUniqueKey, o.UniqueKey)
	w.text(tagGroup, o.Group)
	w.texts(tagTag, o.Tags)
	w.flag(tagResultTuple, o.ResultTuple)
	w.float(tagResultTTL, float64(o.ResultTTL))
	w.texts(tagAfter, o.After)
	w.text(tagOnFailure, o.OnFailure)
	w.texts(tagLimit, o.Limits)
	w.text(tagOnLimit, o.OnLimit)
	w.text(tagTrace, o.Trace)
}

// readRecord calls field with each field of a record until it returns false.
func readRecord(record string, field func(tag uint64, v string) bool) error {
	for len(record) > 0 {
		tag, n := uvarint(record)
		size, m := uvarint(record[n:])
		if n == 0 || m == 0 || size > uint64(len(record)-n-m) {
			return fmt.Errorf("record of a task: %w: a field is cut", fault.ErrCorrupt)
		}
		record = record[n+m:]
		if !field(tag, record[:size]) {
			return nil
		}
		record = record[size:]
	}
	return nil
}

// uvarint reads an unsigned varint at the beginning of s, of n bytes; n is 0 if there is none. Unlike
// binary.Uvarint it drops the bits above 64 of a longer number, because readRecord checks each size.
func uvarint(s string) (v uint64, n int) {
	for shift := 0; n < len(s) && n < binary.MaxVarintLen64; shift += 7 {
		b := s[n]
		n++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

// gaveBack reports whether the record of a task names a worker among its claimants that are not forgiven. It reads
// no more than the claimants.
func gaveBack(record, worker string) (found bool) {
	if record == "" || record[0] != recordVersion {
		return false
	}
	var forgiven int64
	_ = readRecord(record[1:], func(tag uint64, v string) bool { // DecodeEntry returns the error of a damaged record
		switch tag {
		case tagForgiven:
			forgiven, _ = binary.Varint([]byte(v))
			return true
		case tagClaimant:
			forgiven--
			found = forgiven < 0 && v == worker
			return !found
		}
		return false
	})
	return found
}

func decodeRecord(record string, i *Item) error {
	if record == "" {
		return fmt.Errorf("%w: its record is missing", fault.ErrCorrupt)
	}
	if record[0] != recordVersion {
		return fmt.Errorf("record of a task: %w: it has version %d, this program reads version %d", fault.ErrCorrupt, record[0], recordVersion)
	}
	r := recordReader{}
	err := readRecord(record[1:], func(tag uint64, v string) bool {
		r.setField(i, tag, v)
		return r.err == nil
	})
	if err == nil {
		err = r.err
	}
	return err
}

// recordReader converts the values of fields until the first error.
type recordReader struct{ err error }

func (r *recordReader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("record of a task: %w: want %s", fault.ErrCorrupt, what)
	}
}

func (r *recordReader) number(v string) int64 {
	n, size := binary.Varint([]byte(v))
	if size <= 0 || size != len(v) {
		r.fail("a number")
	}
	return n
}

func (r *recordReader) time(v string) time.Time { return time.Unix(0, r.number(v)).UTC() }

func (r *recordReader) float(v string) float64 {
	if len(v) != 8 {
		r.fail("8 bytes of a number")
		return 0
	}
	return math.Float64frombits(binary.BigEndian.Uint64([]byte(v)))
}

// setField sets the field of i that a tag names. i must be without the fields of a record, because the values of a
// repeated tag are appended.
func (r *recordReader) setField(i *Item, tag uint64, v string) {
	switch tag {
	case tagSubject:
		i.Subject = v
	case tagPart:
		i.Parts = append(i.Parts, v)
	case tagTimeout:
		i.Timeout = models.Seconds(r.float(v))
	case tagQueueTTL:
		i.QueueTTL = models.Seconds(r.float(v))
	case tagForgiven:
		if i.forgiven = int(r.number(v)); i.forgiven < 0 || i.forgiven > maxClaimants {
			r.fail("a number of claimants")
		}
	case tagClaimant:
		i.Claimants = append(i.Claimants, v)
	case tagHost:
		i.Hosts = append(i.Hosts, v)
	case tagCurrentClaimant:
		i.CurrentClaimant = v
	case tagAttempts:
		i.Attempts = r.number(v)
	case tagState:
		i.State = v
	case tagAttempt:
		i.History = append(i.History, r.attempt(v))
	case tagCreatedAt:
		i.CreatedAt = r.time(v)
	case tagClaimedAt:
		i.ClaimedAt = r.time(v)
	case tagProgress:
		if len(v) < 8 {
			r.fail("a progress")
			return
		}
		i.Progress = &models.Progress{Fraction: r.float(v[:8]), Text: v[8:]}
	case tagHidden:
		i.Hidden = Hidden(v)
	case tagHiddenBy:
		i.HiddenBy = v
	case tagPending:
		i.Pending = append(i.Pending, v)
	case tagBehind:
		i.Behind = true
	case tagRetryAt:
		i.RetryAt = r.time(v)
	case tagDiedAt:
		i.DiedAt = r.time(v)
	case tagQueued:
		i.queued = true
	case tagExisting:
		i.Existing = true
	case tagEndedAs:
		i.EndedAs = State(v)
	case tagLost:
		i.Lost = r.number(v)
	case tagOnlyFor:
		i.onlyFor = v
	case tagOfferedAt:
		i.offeredAt = time.Duration(r.number(v))
	case tagQueuedAt:
		i.queuedAt = r.time(v)
	case tagBackAt:
		i.backAt = r.time(v)
	case tagPriority:
		i.Priority = r.number(v)
	default:
		r.setOption(&i.TaskOptions, tag, v)
	}
}

// setOption sets the option that a tag names; a field with an unknown tag is skipped.
func (r *recordReader) setOption(o *models.TaskOptions, tag uint64, v string) {
	switch tag {
	case tagNotBefore:
		o.NotBefore = r.time(v)
	case tagExpiresAt:
		o.ExpiresAt = r.time(v)
	case tagMaxAttempts:
		o.MaxAttempts = r.number(v)
	case tagBackoff:
		o.Backoff = models.Seconds(r.float(v))
	case tagUniqueKey:
		o.UniqueKey = v
	case tagGroup:
		o.Group = v
	case tagTag:
		o.Tags = append(o.Tags, v)
	case tagResultTuple:
		o.ResultTuple = true
	case tagResultTTL:
		o.ResultTTL = models.Seconds(r.float(v))
	case tagAfter:
		o.After = append(o.After, v)
	case tagOnFailure:
		o.OnFailure = v
	case tagLimit:
		o.Limits = append(o.Limits, v)
	case tagOnLimit:
		o.OnLimit = v
	case tagTrace:
		o.Trace = v
	}
}

// attempt reads an attempt that encodeRecord wrote. A damaged one is an error of r.
func (r *recordReader) attempt(v string) (a models.Attempt) {
	err := readRecord(v, func(tag uint64, v string) bool {
		switch tag {
		case tagWorker:
			a.Worker = v
		case tagBegan:
			a.ClaimedAt = r.time(v)
		case tagEnded:
			a.EndedAt = r.time(v)
		case tagError:
			a.Error = v
		case tagOutput:
			a.Output = v
		}
		return r.err == nil
	})
	if err != nil {
		r.fail("an attempt")
	}
	return a
}
