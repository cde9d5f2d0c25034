package opa

import (
	"context"
	"os"
	"time"
)

// DefaultInterval is how often Watch looks at its directory.
const DefaultInterval = 2 * time.Second

// Watch reloads the policies when the content of dir changes, until ctx ends.
// It reports every outcome: nil after a reload, otherwise why the policies that
// decide now were kept. The same failure is reported once.
//
// It compares contents instead of waiting for events of the file system, so it
// works with network mounts and with ConfigMaps, whose files are replaced by
// the swap of a symbolic link. A change is taken when it has been there,
// unchanged, for a whole interval: half-written directories are not loaded.
//
// It returns the cause of ctx's end.
func (p *Policy) Watch(ctx context.Context, dir string, report func(error)) error {
	fsys := os.DirFS(dir)
	ticker := time.NewTicker(p.interval)
	defer ticker.Stop()
	w := watcher{loaded: p.Revision()}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		src, err := readSource(fsys)
		switch {
		case err != nil:
			if w.failed(err) {
				report(err)
			}
		case w.settled(src.revision):
			report(p.Reload(fsys))
		}
	}
}

// A watcher decides when a directory has changed.
type watcher struct {
	loaded  string // revision that was loaded, or tried
	seen    string // revision at the last look
	problem string // the last failure to read
}

// settled notes what the directory holds and says whether to load it.
func (w *watcher) settled(revision string) bool {
	stable := revision == w.seen
	w.seen, w.problem = revision, ""
	if !stable || revision == w.loaded {
		return false
	}
	w.loaded = revision
	return true
}

// failed notes that the directory could not be read and says whether that is news.
func (w *watcher) failed(err error) bool {
	news := err.Error() != w.problem
	w.seen, w.problem = "", err.Error()
	return news
}
