package cmdutil

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// progressEvery is how often a progress line is written.
const progressEvery = 200 * time.Millisecond

// A Progress says on a terminal how far a command is, in one line that it writes again and again. Its
// methods are safe for concurrent use, and do nothing on a nil *Progress.
type Progress struct {
	w   io.Writer
	now func() time.Time

	mu   sync.Mutex
	what string
	of   uint64 // 0: it is not known how much there is
	done uint64
	next time.Time // when the line is written again
	open bool      // there is a line
}

// NewProgress returns the progress of a command that writes to w, nil when that is no terminal: what a
// script or a log reads has no such lines. The first line appears when the command takes longer than a moment.
func NewProgress(w io.Writer) *Progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return newProgress(w, time.Now)
}

func newProgress(w io.Writer, now func() time.Time) *Progress {
	return &Progress{w: w, now: now, next: now().Add(progressEvery)}
}

// Step begins another part of the work, of which there is so much; 0: that is not known, and the line
// appears at once, since nothing may be added for long.
func (p *Progress) Step(what string, of uint64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.of, p.done = what, of, 0
	if of == 0 {
		p.next = p.now()
	}
	p.write()
}

// Add says that so much more is done.
func (p *Progress) Add(n int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += uint64(n)
	p.write()
}

// Close removes the line.
func (p *Progress) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.open = false
}

// write writes the line when it is time. p.mu is held.
func (p *Progress) write() {
	now := p.now()
	if now.Before(p.next) {
		return
	}
	p.next, p.open = now.Add(progressEvery), true
	fmt.Fprintf(p.w, "\r\x1b[K%s", p.what)
	switch {
	case p.of > 0:
		fmt.Fprintf(p.w, ": %d of %s, %d%%", p.done, Entries(p.of), 100*min(p.done, p.of)/p.of)
	case p.done > 0:
		fmt.Fprintf(p.w, ": %s", Entries(p.done))
	}
}
