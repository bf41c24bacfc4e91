package code

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/code/analyse"
	"leasehold/shared/fault"
	"leasehold/shared/process/failpoint"
	"leasehold/shared/process/retry"
	"leasehold/worker"
)

// Index is the part of the code index that workers use. Its methods may be called
// concurrently.
type Index interface {
	// Missing is code.Searcher.Missing.
	Missing(ctx context.Context, ids []code.OID) ([]code.OID, error)
	// Put puts a batch of blobs into the index, durably, and returns the hash of the
	// segment that has them. Repeating it changes nothing.
	Put(ctx context.Context, batch string, blobs []code.Blob) (segment string, err error)
}

// Handler does tasks of index. It starts no goroutines.
type Handler struct {
	index    Index
	analyser *analyse.Analyser
	client   *client
	log      *slog.Logger
}

var _ worker.Handler = (*Handler)(nil)

// New returns a handler. The analyser stays the caller's. It reads the files of managers over TLS if secured is not nil.
func New(index Index, analyser *analyse.Analyser, secured *tls.Config, log *slog.Logger) *Handler {
	return &Handler{index: index, analyser: analyser, client: newClient(secured), log: log}
}

// Handle indexes the batch of one task, and resolves the task with the outcome. A manager that does not serve the
// batch any more is an outcome too, because another worker could not read it either; the manager that waits for
// the batch decides. Handle fails with fault.ErrInvalid if the data cannot be decoded; after any other error the
// task is tried later.
func (h *Handler) Handle(ctx context.Context, job worker.Job) error {
	t := job.Task()
	var batch models.IndexBatch
	if err := json.Unmarshal(t.Data, &batch); err != nil {
		return fmt.Errorf("index task %s: %w: %w", t.ID, fault.ErrInvalid, err)
	}
	began := time.Now()
	leaseID, token := job.Lease()
	a := attempt{Handler: h, from: content{client: h.client, url: batch.Content, batch: batch.Batch, lease: leaseID, token: token}}
	a.result = models.Indexed{Repository: batch.Repository, Batch: batch.Batch}
	err := a.indexBatch(ctx)
	if unreachable := (*unreachableError)(nil); errors.As(err, &unreachable) && ctx.Err() == nil {
		a.result = models.Indexed{Repository: batch.Repository, Batch: batch.Batch, Unreachable: unreachable.Error()}
		err = nil
	}
	if err != nil {
		return later(fmt.Errorf("batch %s of %s: %w", batch.Batch, batch.Repository, err))
	}
	cost := models.Cost{How: models.IndexNew, Tasks: 1, Wall: models.SecondsOf(time.Since(began))}
	if a.result.Files == 0 {
		cost.How = models.IndexKnown
	}
	if err := job.Spend(ctx, cost); err != nil {
		h.log.DebugContext(ctx, "indexing: the cost of a task is not counted", "error", err)
	}
	return job.Resolve(ctx, batch.Batch, a.result)
}

// indexPause is how long a task waits after the index was busy or away.
const indexPause = 30 * time.Second

// later returns err as a failure that does not count as an attempt if the index may take the
// batch later, or if the disk of this machine fails, so that no file is given up because of them.
func later(err error) error {
	if errors.As(err, new(*fs.PathError)) { // the files of a task come from the manager, so it is one of this worker's own
		return worker.Unable(err)
	}
	if retry.CanPass(err) {
		return &worker.Failure{Err: err, Later: indexPause}
	}
	return err
}

// attempt is one execution of a task.
type attempt struct {
	*Handler
	from   content
	result models.Indexed
}

// indexBatch reads the files of the batch that the index lacks, analyses them, and puts them into the index.
// a.result has the counts then. Files that the manager cannot read are in a.result.Unreadable; they are not an
// error.
func (a *attempt) indexBatch(ctx context.Context) error {
	files, err := a.from.listFiles(ctx)
	if err != nil {
		return err
	}
	missing, err := a.missingFiles(ctx, files)
	if err != nil || len(missing) == 0 {
		return err
	}
	blobs, err := a.analyseFiles(ctx, missing)
	if err != nil {
		return err
	}
	failpoint.Reached("indexing.analysed", "")
	for _, b := range blobs {
		if b.Skipped != "" {
			a.result.Skipped++
		}
	}
	a.result.Files = len(blobs)
	if len(blobs) == 0 {
		return nil
	}
	a.result.Segment, err = a.index.Put(ctx, a.from.batch, blobs)
	failpoint.Reached("indexing.put", "")
	return err
}

// analyseFiles reads files and returns their blobs. The blob of a skipped file has the reason. A file that the
// manager cannot read is left out, and is in a.result.Unreadable.
func (a *attempt) analyseFiles(ctx context.Context, files []models.BatchFile) (blobs []code.Blob, err error) {
	var read []models.BatchFile
	for _, f := range files {
		if f.Skip == "" {
			read = append(read, f)
			continue
		}
		blobs = append(blobs, code.Blob{OID: code.OID(f.OID), BlobInfo: code.BlobInfo{Size: f.Size, Skipped: f.Skip}})
	}
	err = a.from.readFiles(ctx, read, func(f models.BatchFile, content []byte, problem string) error {
		if problem != "" {
			a.result.Unreadable = append(a.result.Unreadable, models.Unreadable{OID: f.OID, Reason: problem})
			return nil
		}
		blob, err := a.analyser.Blob(ctx, f.Path, code.OID(f.OID), content)
		blobs = append(blobs, blob)
		return err
	})
	return blobs, err
}

// missingFiles returns those of files that the index does not have, each content once.
func (a *attempt) missingFiles(ctx context.Context, files []models.BatchFile) ([]models.BatchFile, error) {
	byID := make(map[code.OID]models.BatchFile, len(files))
	ids := make([]code.OID, len(files))
	for i, f := range files {
		ids[i] = code.OID(f.OID)
		byID[ids[i]] = f
	}
	ids, err := a.index.Missing(ctx, ids)
	missing := make([]models.BatchFile, len(ids))
	for i, id := range ids {
		missing[i] = byID[id]
	}
	return missing, err
}
