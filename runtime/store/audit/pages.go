package audit

import (
	"context"
	"fmt"
	goruntime "runtime"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// maxWorkers bounds how many goroutines hash and verify.
const maxWorkers = 8

// A page is what was read of the entries from after+1 to after+pageSize.
type page struct {
	after  uint64
	hashes []tlog.Hash // up to where the first entry is missing
	bytes  uint64
	gap    bool   // one is missing
	damage Damage // why, if the source says so
	odd    *Fault // the first entry whose index or private part is bad
	err    error
}

// pages reads and hashes the entries after from up to head on all processors, and calls f
// with the pages in their order until it returns false. The source is read by
// several goroutines; all have ended when pages returns.
func pages(ctx context.Context, src Source, from, head, proved uint64, f func(*page) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	workers := min(goruntime.GOMAXPROCS(0), maxWorkers)
	type job struct {
		after uint64
		done  chan *page
	}
	todo := make(chan job)
	order := make(chan chan *page, 2*workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range workers {
		wg.Go(func() {
			var h hasher
			for j := range todo {
				j.done <- readPage(ctx, src, &h, j.after, head, proved)
			}
		})
	}
	wg.Go(func() {
		defer close(todo)
		defer close(order)
		for after := from; after < head; after += pageSize {
			j := job{after, make(chan *page, 1)}
			select {
			case order <- j.done:
			case <-ctx.Done():
				return
			}
			select {
			case todo <- j:
			case <-ctx.Done():
				return
			}
		}
	})
	for done := range order {
		select {
		case p := <-done:
			if p.err != nil {
				return p.err
			}
			if !f(p) {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// readPage reads a page. The entries after proved are those that no checkpoint
// proves; their leaves are looked at more closely.
func readPage(ctx context.Context, src Source, h *hasher, after, head, proved uint64) *page {
	p := &page{after: after}
	want := int(min(pageSize, head-after))
	p.hashes = make([]tlog.Hash, 0, want)
	for len(p.hashes) < want {
		at := after + uint64(len(p.hashes))
		entries, err := read(ctx, src, at, want-len(p.hashes))
		var damaged bool
		if p.damage, damaged = damageOf(err); err != nil && !damaged {
			p.err = err
			return p
		}
		p.gap = len(entries) == 0
		for i := range entries {
			e := &entries[i]
			at++
			if p.gap = e.Seq != at; p.gap || len(p.hashes) == want {
				break
			}
			p.hashes = append(p.hashes, h.Leaf(e.Leaf))
			p.bytes += uint64(len(e.Leaf))
			if p.odd == nil {
				p.odd = oddity(e, at > proved)
			}
		}
		if p.gap = p.gap || p.damage != nil && len(p.hashes) < want; p.gap {
			return p
		}
	}
	return p
}

// read reads a source.
func read(ctx context.Context, src Reader, after uint64, limit int) ([]journal.Entry, error) {
	list, err := src.Read(ctx, after, limit)
	if err != nil {
		err = fmt.Errorf("the journal cannot be read after entry %d: %w", after, err)
	}
	return list, err
}

// oddity returns what is wrong with an entry apart from its leaf.
func oddity(e *journal.Entry, thorough bool) *Fault {
	if what := checkIndex(e, thorough); what != "" {
		return &Fault{ClassIndex, e.Seq, e.Seq, what}
	}
	if len(e.Private) > 0 {
		if err := journal.CheckPrivate(e.Leaf, e.Private); err != nil {
			return &Fault{ClassPrivate, e.Seq, e.Seq, err.Error()}
		}
	}
	return nil
}
