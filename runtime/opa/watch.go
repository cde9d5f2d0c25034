package opa

import (
	"context"
	"io/fs"
	"os"
	"time"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// DefaultInterval is how often Watch looks at its directory. It looks a third as often
// once nothing has changed for 15 intervals.
const DefaultInterval = 2 * time.Second

const (
	calm   = 15 // looks that find nothing new, after which there are fewer
	slower = 3
)

// Watch is WatchFS for the folder dir.
func (p *Policy) Watch(ctx context.Context, dir string, report func(error)) error {
	return p.WatchFS(ctx, os.DirFS(dir), report)
}

// WatchFS reloads the policies when a directory, or one of the directories of a Join,
// holds something else than what decides, until ctx ends. It reports every outcome:
// nil after a reload, otherwise why the policies that decide now were kept. The same
// failure is reported once.
//
// It looks every interval instead of waiting for events of the file system, so it
// works with network mounts and with ConfigMaps, whose files are replaced by
// the swap of a symbolic link. What it compares are contents. It reads them when the
// names, identities, sizes or times of the files have changed, when a file is so young that it
// can change again without a new time, and every 5 minutes in any case. A change is taken when it has been there,
// unchanged, for a whole interval, and what is loaded is what was read then:
// half-written directories are not loaded, and several directories are loaded
// together, when all of them have settled.
//
// It returns the cause of ctx's end (SEMANTICS 3.6).
func (p *Policy) WatchFS(ctx context.Context, fsys fs.FS, report func(error)) error {
	timer := time.NewTimer(p.interval)
	defer timer.Stop()
	var w watcher
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		if w.unchanged(fsys, p.Revision()) {
			timer.Reset(w.pause(p.interval))
			continue
		}
		timer.Reset(p.interval)
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

	stamp *policydir.Stamp // of the directory before it was read last; nil: it was not
	read  time.Time        // when that was
	same  int              // looks since
}

const (
	// rereadAfter is how long the watcher trusts that files with the same stamp have the same contents.
	rereadAfter = 5 * time.Minute
	// young is the age up to which a file is not trusted: the coarsest clock of a file system that is
	// in use has a resolution of 2 seconds.
	young = 3 * time.Second
)

// unchanged reports whether the directory need not be read: by its stamp it holds what it held at the
// last look, and that is what decides now, or was refused.
func (w *watcher) unchanged(fsys fs.FS, loaded string) bool {
	now := time.Now()
	stamp, err := policydir.ReadStamp(fsys)
	if err == nil && w.stamp != nil && w.problem == "" && (w.seen == loaded || w.seen == w.refused) &&
		now.Sub(w.read) < rereadAfter && w.stamp.Before(w.read.Add(-young)) && w.stamp.Same(stamp) {
		return true
	}
	w.stamp, w.read, w.same = stamp, now, 0 // nil with an error
	return false
}

// pause returns the time until the next look after one that has found nothing new.
func (w *watcher) pause(interval time.Duration) time.Duration {
	if w.same++; w.same < calm {
		return interval
	}
	return slower * interval
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
