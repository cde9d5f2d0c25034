package opa

import (
	"context"
	"io/fs"
	"os"
	"time"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// DefaultInterval is how often Watch looks at its directory.
const DefaultInterval = 2 * time.Second

// Watch is WatchFS for the folder dir.
func (p *Policy) Watch(ctx context.Context, dir string, report func(error)) error {
	return p.WatchFS(ctx, os.DirFS(dir), report)
}

// WatchFS reloads the policies when a directory, or one of the directories of a Join,
// holds something else than what decides, until ctx ends. It reports every outcome:
// nil after a reload, otherwise why the policies that decide now were kept. The same
// failure is reported once.
//
// It compares contents instead of waiting for events of the file system, so it
// works with network mounts and with ConfigMaps, whose files are replaced by
// the swap of a symbolic link. A change is taken when it has been there,
// unchanged, for a whole interval, and what is loaded is what was read then:
// half-written directories are not loaded, and several directories are loaded
// together, when all of them have settled.
//
// It returns the cause of ctx's end.
func (p *Policy) WatchFS(ctx context.Context, fsys fs.FS, report func(error)) error {
	ticker := time.NewTicker(p.interval)
	defer ticker.Stop()
	var w watcher
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		src, err := policydir.ReadSource(fsys)
		switch {
		case err != nil:
			if w.failed(err) {
				report(err)
			}
		case w.settled(src.Revision, p.Revision()):
			p.reload.Lock()
			err := p.replace(src)
			p.reload.Unlock()
			if err != nil {
				w.refused = src.Revision
			}
			report(err)
		}
	}
}

// A watcher decides when a directory has changed.
type watcher struct {
	refused string // the last revision that could not be loaded
	seen    string // revision at the last look
	problem string // the last failure to read
}

// settled notes what the directory holds and says whether to load it.
func (w *watcher) settled(revision, loaded string) bool {
	stable := revision == w.seen
	w.seen, w.problem = revision, ""
	if revision == w.refused {
		return false
	}
	w.refused = ""
	return stable && revision != loaded
}

// failed notes that the directory could not be read and says whether that is news.
func (w *watcher) failed(err error) bool {
	news := err.Error() != w.problem
	w.seen, w.problem = "", err.Error()
	return news
}
