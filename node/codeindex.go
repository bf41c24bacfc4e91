package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	codeindex "leasehold/coordinator/code"
	managercode "leasehold/manager/code"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/code"
	"leasehold/shared/code/analyse"
	"leasehold/shared/code/elastic"
	"leasehold/shared/code/embedded"
	"leasehold/shared/code/gitrepo"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/process/platform"
	"leasehold/shared/process/retry"
	"leasehold/shared/process/supervisor"
	workercode "leasehold/worker/code"
)

// The names in a data folder.
const (
	indexDir   = "index"
	uploadsDir = "uploads"
	// fetchingDir is in indexDir, for files that come from the database of a realm.
	fetchingDir = "fetching"
	mirrorsDir  = "mirrors"
	segmentDir  = "segments" // in which a worker builds segments
)

// codeIndex is what managers and workers use of the code index, in this process or at a coordinator elsewhere.
type codeIndex interface {
	managercode.Index
	workercode.Index
}

// openIndex opens the code index, in the folder or on a search server, unless it is open already. It is not part
// of open, because most commands do not use it. It removes the files of origins that were removed while the index
// could not be used.
func (d *DataDir) openIndex(ctx context.Context) error {
	if d.index != nil {
		return nil
	}
	if d.cfg.Search != "" {
		return d.openSearch()
	}
	if d.depot != nil {
		return d.openCached(ctx)
	}
	store, err := embedded.Open(filepath.Join(d.cfg.Data, indexDir), embedded.Options{})
	if err != nil {
		return err
	}
	d.opened.Push(store.Close)
	index, err := d.newIndex(store)
	if err != nil {
		return err
	}
	if err := index.DropRemoved(ctx); err != nil {
		return err
	}
	d.index, d.maintain = index, store.Run
	return nil
}

// openCached opens the code index of a realm, with what the folder has of it; d.maintain fetches the rest.
func (d *DataDir) openCached(ctx context.Context) error {
	kept, err := d.depot.List(ctx)
	if err != nil {
		return err
	}
	store, lacking, err := d.openAligned(kept)
	if errors.Is(err, fault.ErrCorrupt) {
		d.log.Warn("the code index in the folder is damaged; fetching all of it from the database", "error", err)
		if err := os.RemoveAll(filepath.Join(d.cfg.Data, indexDir)); err != nil {
			return fmt.Errorf("code index: %w: %w", fault.ErrFolder, err)
		}
		store, lacking, err = d.openAligned(kept)
	}
	if err != nil {
		return err
	}
	d.opened.Push(store.Close)
	index, err := d.newIndex(store)
	if err != nil {
		return err
	}
	d.index, d.maintain = index, func(ctx context.Context) error {
		if err := d.fetchIndex(ctx, store, lacking); err != nil {
			return unlessEnded(ctx, err)
		}
		return store.Run(ctx)
	}
	return nil
}

// openAligned opens the code index with those of the kept files that the folder has, and returns the others.
func (d *DataDir) openAligned(kept []embedded.Kept) (*embedded.Index, []embedded.Kept, error) {
	dir := filepath.Join(d.cfg.Data, indexDir)
	lacking, err := embedded.Align(dir, kept)
	if err != nil {
		return nil, nil, err
	}
	store, err := embedded.Open(dir, embedded.Options{Depot: d.depot})
	return store, lacking, err
}

// fetchIndex has the index take in the files that the folder lacks, one after the other, and then schedules visits of
// the repositories that it lacks files of nevertheless. It leaves out a file that the realm does not have any
// more, or has damaged, and waits while the database is away.
func (d *DataDir) fetchIndex(ctx context.Context, store *embedded.Index, lacking []embedded.Kept) error {
	dir := filepath.Join(d.cfg.Data, indexDir, fetchingDir)
	if err := errors.Join(os.RemoveAll(dir), platform.MakeFolder(dir, 0o700)); err != nil {
		return fmt.Errorf("code index: %w: %w", fault.ErrFolder, err)
	}
	if len(lacking) > 0 {
		d.log.Warn("the folder lacks a part of the code index; fetching it from the database, and searches report meanwhile that they are not over everything", "files", len(lacking))
	}
	away := retry.Loop{Message: "code index: the database cannot be used; waiting for it", Log: d.log}
	for _, k := range lacking {
		path := filepath.Join(dir, k.Name)
		err := away.Do(ctx, func() error { return d.depot.Fetch(ctx, k, path) })
		if err == nil {
			err = away.Do(ctx, func() error { return store.Adopt(ctx, k.File, path) })
		}
		if errors.Is(err, fault.ErrNotFound) || errors.Is(err, fault.ErrCorrupt) {
			d.log.Error("code index: a file is lost; its repository is visited again", "file", k.Name, "error", err)
			continue
		}
		if err != nil {
			return err
		}
	}
	if len(lacking) > 0 {
		d.log.Warn("the code index is whole again", "files", len(lacking))
	}
	if err := away.Do(ctx, func() error { return d.index.DropRemoved(ctx) }); err != nil {
		return err
	}
	if err := away.Do(ctx, func() error { return d.depot.Tidy(ctx) }); err != nil {
		return err
	}
	return d.visitLacking(ctx)
}

func (d *DataDir) newIndex(store codeindex.Store) (*codeindex.Index, error) {
	return codeindex.New(filepath.Join(d.cfg.Data, indexDir, uploadsDir), store, d.Catalog)
}

// openSearch opens the code index on a search server. It sends no request, because the server may be away now;
// d.maintain removes the files of removed origins once it answers.
func (d *DataDir) openSearch() error {
	store, err := newSearch(d.cfg, d.log)
	if err != nil {
		return err
	}
	d.opened.Push(store.Close)
	index, err := d.newIndex(store)
	if err != nil {
		return err
	}
	d.index, d.maintain = index, func(ctx context.Context) error {
		removed := retry.Loop{Message: "the search server cannot be used; all other work goes on", Log: d.log, Backoff: retry.Backoff{Max: time.Minute},
			Retry: func(error) bool { return true }}
		if err := removed.Do(ctx, func() error { return index.DropRemoved(ctx) }); err != nil {
			return nil // ctx has ended
		}
		if err := d.visitLacking(ctx); err != nil {
			d.log.Error("code index: visits of lost repositories are not scheduled", "error", err)
		}
		store.Run(ctx, d.log)
		return nil
	}
	return nil
}

// newSearch returns the code index on the search server of cfg. It connects on first use. Settings
// that are not valid give fault.ErrInvalid.
func newSearch(cfg config.Config, log *slog.Logger) (*elastic.Index, error) {
	return elastic.New(searchConfig(cfg, log))
}

func searchConfig(cfg config.Config, log *slog.Logger) elastic.Config {
	c := elastic.Config{URL: cfg.Search, Prefix: cfg.SearchPrefix, Views: cfg.SearchViews, Gzip: cfg.SearchGzip, Shards: cfg.SearchShards, Log: log,
		Access: elastic.Access{APIKey: cfg.SearchAPIKey, Bearer: cfg.SearchBearer, CA: cfg.SearchCA, Cert: cfg.SearchCert, Key: cfg.SearchKey}}
	if cfg.SearchReplicas >= 0 {
		c.Replicas = &cfg.SearchReplicas
	}
	return c
}

// RebuildIndex writes the code index on the search server of cfg again; see elastic.Rebuild.
func RebuildIndex(ctx context.Context, cfg config.Config, log *slog.Logger, report func(elastic.Rebuilding)) (elastic.Rebuilding, error) {
	return elastic.Rebuild(ctx, searchConfig(cfg, log), report)
}

// ReadSearchLayout reads how the indices are on the search server of cfg, and creates none.
func ReadSearchLayout(ctx context.Context, cfg config.Config) (l elastic.Layout, err error) {
	store, err := newSearch(cfg, nil)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return store.Layout(ctx)
}

// workerIndex returns the index to which a worker writes, and the function that closes it: the search server if
// one is configured, otherwise coordinator, which stays open.
func workerIndex(cfg config.Config, coordinator workercode.Index, log *slog.Logger) (own workercode.Index, closeIndex func() error, err error) {
	if cfg.Search == "" {
		return coordinator, func() error { return nil }, nil
	}
	store, err := newSearch(cfg, log)
	if err != nil {
		return nil, nil, err
	}
	return store, store.Close, nil
}

// hostIndex is openIndex for a coordinator, which has other work too: if the index is damaged
// (fault.ErrCorrupt), it logs that and returns nil, and calls of the index return the error.
func (d *DataDir) hostIndex(ctx context.Context) error {
	err := d.openIndex(ctx)
	if !errors.Is(err, fault.ErrCorrupt) {
		return err
	}
	d.log.Error("the code index cannot be used; all other work goes on", "error", err)
	d.index, err = d.newIndex(codeindex.Unusable(err))
	return err
}

// visitLacking schedules visits of the repositories that the code index lacks files of. A damaged index and
// a search server that is away are reported elsewhere.
func (d *DataDir) visitLacking(ctx context.Context) error {
	lack, err := d.index.Lacks()
	if err == nil && len(lack.Repos) > 0 {
		d.log.Warn("the code index lacks files; searches are not over everything until their repositories are visited again, which is due now",
			"files", lack.Files, "repositories", len(lack.Repos), "first", lack.Repos[0].Repo)
	}
	err = d.index.VisitLacking(ctx, func(ctx context.Context, lacking []models.Origin) error {
		const onlyLacking = false
		return d.VisitNow(ctx, lacking, onlyLacking)
	})
	if errors.Is(err, fault.ErrCorrupt) || errors.Is(err, fault.ErrUnavailable) || errors.Is(err, fault.ErrOverloaded) {
		return nil
	}
	return err
}

// maintainIndex merges the segments of the code index, or removes old documents, until ctx ends. Without an index
// it returns nil at once.
func (d *DataDir) maintainIndex(ctx context.Context) error {
	if d.maintain == nil {
		return nil
	}
	return d.maintain(ctx)
}

// RemoveOrigin removes an origin from the catalog and its files from the code index. If the
// process was killed in between, repeating it removes the files, and returns fault.ErrNotFound.
func (d *DataDir) RemoveOrigin(ctx context.Context, id string) error {
	if err := d.hostIndex(ctx); err != nil {
		return err
	}
	err := d.Catalog.RemoveOrigin(ctx, id)
	if err != nil && !errors.Is(err, fault.ErrNotFound) {
		return err
	}
	return errors.Join(err, d.index.DropRepo(ctx, id))
}

// RemoveOrigin removes an origin, and all that is known of it. It returns fault.ErrNotFound for an unknown
// origin.
func (s *CatalogSource) RemoveOrigin(ctx context.Context, id string) error {
	if s.Dir != nil {
		return s.Dir.RemoveOrigin(ctx, id)
	}
	return s.Catalog.RemoveOrigin(ctx, id)
}

// indexer is what a manager visits and indexes repositories with.
type indexer struct {
	mirrors *gitrepo.Store
	content *managercode.Content // nil: nothing is indexed
	port    net.Listener         // of content
}

// openMirrors opens the folder of mirrors below dir, and returns an indexer that visits repositories without
// indexing them. On a machine without the git command the mirrors use go-git, which it logs.
func openMirrors(cfg config.Config, dir string, f *fetch.Fetcher, log *slog.Logger) (*indexer, error) {
	mirrors, err := gitrepo.Open(gitrepo.Config{
		Dir: filepath.Join(dir, mirrorsDir), TotalBytes: cfg.MirrorBytes, Schemes: cfg.GitSchemes, Hosts: cfg.GitHosts, Tokens: cfg.GitTokens, SSH: cfg.GitSSH, Resolve: f.Resolve,
	})
	if err == nil && cfg.Index && mirrors.UsesLibrary() {
		log.Info("this machine has no git command: repositories are copied by the library go-git, which is slower")
	}
	return &indexer{mirrors: mirrors}, err
}

// openIndexer opens the folder of mirrors below dir and, if repositories are indexed, the port at which workers
// read files, which speaks TLS if secured is not nil.
func openIndexer(cfg config.Config, dir string, f *fetch.Fetcher, secured *tls.Config, log *slog.Logger) (*indexer, error) {
	x, err := openMirrors(cfg, dir, f, log)
	if err != nil || !cfg.Index {
		return x, err
	}
	if x.port, err = net.Listen("tcp", cfg.ContentListen); err != nil {
		return nil, config.Invalid{{Key: "content-listen", Text: err.Error()}}
	}
	url := "http://" + advertised(cfg.Advertise, x.port.Addr())
	if secured != nil {
		x.port = tls.NewListener(x.port, secured)
		url = "https://" + advertised(cfg.Advertise, x.port.Addr())
	}
	x.content = managercode.NewContent(url)
	return x, nil
}

// advertised returns the address at which workers reach the port that listens at listens: the
// configured one, with the port of listens if its own is 0. If none is configured, it is listens itself, or the name of
// this machine if listens is every address of it.
func advertised(configured string, listens net.Addr) string {
	host, port, err := net.SplitHostPort(configured)
	if err != nil {
		return reachable(listens.String())
	}
	if _, own, err := net.SplitHostPort(listens.String()); err == nil && port == "0" {
		port = own
	}
	return net.JoinHostPort(host, port)
}

// reachable returns an address with the name of this machine in place of one that stands for all of its addresses.
func reachable(listens string) string {
	host, port, err := net.SplitHostPort(listens)
	if err != nil {
		return listens
	}
	name, err := os.Hostname()
	if ip := net.ParseIP(host); err != nil || ip != nil && !ip.IsUnspecified() {
		return listens
	}
	return net.JoinHostPort(name, port)
}

// flow returns the flow that visits and indexes repositories.
func (x *indexer) flow(cfg config.Config, common managercode.Config, own codeIndex) *managercode.Flow {
	common.Wanted = gitrepo.Wanted{Branches: cfg.Branches, Tags: cfg.Tags, History: cfg.History}
	common.Timeout, common.Look = indexTimeout, cfg.CapacityLook
	common.Mirrors = x.mirrors
	if x.content != nil {
		common.Index, common.Content = own, x.content
	}
	return managercode.NewFlow(common)
}

// runBeside runs manage and, if repositories are indexed, serves files to workers meanwhile. It
// returns when both have ended; each ends if the other fails or ctx ends.
func (x *indexer) runBeside(ctx context.Context, manage supervisor.Task) error {
	if x.content == nil {
		return manage(ctx)
	}
	return supervisor.All(ctx, manage, func(ctx context.Context) error { return x.content.Serve(ctx, x.port) })
}

// newIndexing returns the handler of tasks of index, and the function that closes its connections
// and ends its ctags processes.
func newIndexing(ctx context.Context, own workercode.Index, secured *tls.Config, log *slog.Logger) (*workercode.Handler, func() error) {
	analyser := analyse.New(analyse.FindCtags(ctx))
	h := workercode.New(own, analyser, secured, log)
	return h, func() error { return errors.Join(h.Close(), analyser.Close()) }
}

// SearchCode calls visit for the matches that q selects until visit returns false. The result tells what was left
// out. It returns fault.ErrInvalid if the query cannot be parsed.
func (s *CatalogSource) SearchCode(ctx context.Context, q types.SearchQuery, visit func(types.CodeMatch) bool) (types.SearchEnd, error) {
	parsed, err := code.Parse(q.Query)
	if err != nil {
		return types.SearchEnd{}, err
	}
	if s.API != nil {
		return s.API.Search(ctx, q, visit)
	}
	if err := s.Dir.openIndex(ctx); err != nil {
		return types.SearchEnd{}, err
	}
	return s.Dir.index.SearchPart(ctx, parsed, codeindex.Part{Offset: q.Offset, Limit: q.Limit, Context: q.Context, Facets: q.Facets}, visit)
}

// CodeReport returns the largest functions, the most complex files and the languages of a repository.
func (s *CatalogSource) CodeReport(ctx context.Context, q types.ReportQuery) (types.CodeReport, error) {
	if s.API != nil {
		return s.API.CodeReport(ctx, q)
	}
	return s.Dir.CodeReport(ctx, q)
}

// CodeReport is CatalogSource.CodeReport for the code index of the folder.
func (d *DataDir) CodeReport(ctx context.Context, q types.ReportQuery) (types.CodeReport, error) {
	if err := d.openIndex(ctx); err != nil {
		return types.CodeReport{}, err
	}
	return d.index.Report(ctx, q)
}

// IndexedFiles lists at most most files of a repository. If skipped is true, it lists only those that are not
// indexed. An unknown repository gives fault.ErrNotFound.
func (s *CatalogSource) IndexedFiles(ctx context.Context, repo string, skipped bool, most int) (types.Page[types.IndexedFile], error) {
	if s.API != nil {
		return s.API.Files(ctx, repo, skipped, most)
	}
	if err := s.Dir.openIndex(ctx); err != nil {
		return types.Page[types.IndexedFile]{}, err
	}
	return s.Dir.index.ListFiles(ctx, codeindex.FileQuery{Repo: repo, SkippedOnly: skipped, Limit: most})
}

// Repositories lists at most most indexed repositories.
func (s *CatalogSource) Repositories(ctx context.Context, most int) (types.Page[types.CodeRepository], error) {
	if s.API != nil {
		return s.API.Repositories(ctx, most)
	}
	if err := s.Dir.openIndex(ctx); err != nil {
		return types.Page[types.CodeRepository]{}, err
	}
	all, err := s.Dir.index.Repositories(ctx)
	return types.Page[types.CodeRepository]{Items: all[:min(len(all), most)], Total: len(all)}, err
}

// ReadFile returns lines of an indexed file.
func (s *CatalogSource) ReadFile(ctx context.Context, at types.FilePlace) (types.CodeFile, error) {
	if s.API != nil {
		return s.API.ReadFile(ctx, at)
	}
	if err := s.Dir.openIndex(ctx); err != nil {
		return types.CodeFile{}, err
	}
	return s.Dir.index.Read(ctx, at)
}
