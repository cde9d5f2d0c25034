package console

import (
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

const (
	readAtOnce = 256   // entries
	maxRead    = 5_000 // entries that are looked at for a page
	maxDamages = 8     // that a page tells
)

// An entryFilter says which entries a page lists; what is empty matches all.
type entryFilter struct{ Kind, Session, Run, Tool, By string }

func (f *entryFilter) any() bool { return *f != entryFilter{} }

// wants reports whether the index of an entry fits; who gave it is in its leaf.
func (f *entryFilter) wants(e *journal.Entry) bool {
	return fits(f.Kind, e.Kind) && fits(f.Session, e.Session) && fits(f.Run, e.Run) && fits(f.Tool, e.Tool)
}

func fits(want, is string) bool { return want == "" || want == is }

// An entryItem is an entry as the list shows it.
type entryItem struct {
	Seq                     uint64
	Kind, By, Session, Call string
	Tool                    string
	At                      moment
}

// An auditPage is what the list of entries shows.
type auditPage struct {
	entryFilter
	Any       bool
	Items     []entryItem
	Damaged   []uint64 // entries that cannot be read
	Next      string
	MayVerify bool
	Verified  *verified // the last verification; nil: none since the start
}

// journal serves the entries that the viewer may audit, the newest first.
func (p *pages) journal(q *request) error {
	v := q.query
	d := &auditPage{entryFilter: entryFilter{v.Get("kind"), v.Get("session"), v.Get("run"), v.Get("tool"), v.Get("by")}}
	head, err := p.store.Head(q.Context())
	if err != nil {
		return err
	}
	before, err := positionOf(v.Get("before"))
	if err != nil {
		return err
	}
	if before == 0 || before > head {
		before = head + 1
	}
	next, err := p.entriesBefore(q, d, before)
	if err != nil {
		return err
	}
	if next > 1 {
		v.Set("before", strconv.FormatUint(next, 10))
		d.Next = "?" + url.Values(v).Encode()
	}
	d.Any, d.MayVerify, d.Verified = d.any(), p.mayAudit(q, runtime.ActTarget{}), p.verification.last()
	p.render(q, http.StatusOK, "audit", "Audit", d)
	return nil
}

// positionOf reads a position of the journal; 0 when there is none.
func positionOf(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	at, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, problem(httpguard.BadPosition, "that is no position of the journal")
	}
	return at, nil
}

// entriesBefore adds a page of entries, and returns the entry before which the next page begins.
func (p *pages) entriesBefore(q *request, d *auditPage, before uint64) (next uint64, err error) {
	may := p.auditor(q)
	for looked := 0; before > 1 && looked < maxRead; looked += readAtOnce {
		after := uint64(0)
		if before > readAtOnce+1 {
			after = before - readAtOnce - 1
		}
		list, damaged, err := p.readable(q, after, before-1)
		if err != nil {
			return 0, err
		}
		d.Damaged = append(d.Damaged, damaged...)
		for i := len(list) - 1; i >= 0; i-- {
			e := &list[i]
			if !d.wants(e) || !may(e) {
				continue
			}
			item := entryItem{Seq: e.Seq, Kind: e.Kind, Session: e.Session, Call: e.Call, Tool: e.Tool, At: momentOf(e.At)}
			if r, err := journal.Decode(e.Leaf); err == nil {
				item.By = r.By
			}
			if d.By != "" && d.By != item.By {
				continue
			}
			if d.Items = append(d.Items, item); len(d.Items) == perPage {
				return e.Seq, nil
			}
		}
		before = after + 1
	}
	return before, nil
}

// readable returns the entries after a position up to another one, without those that are damaged, and the
// positions of these.
func (p *pages) readable(q *request, after, last uint64) (list []journal.Entry, damaged []uint64, err error) {
	for after < last {
		part, err := p.store.Read(q.Context(), after, int(last-after))
		list = append(list, part...)
		if err == nil {
			return list, damaged, nil
		}
		at := damagedAt(err)
		if at <= after || at > last || len(damaged) == maxDamages {
			return list, damaged, err
		}
		p.tell(err)
		damaged, after = append(damaged, at), at
	}
	return list, damaged, nil
}

// damagedAt is the entry that an error says cannot be read; 0 for another error.
func damagedAt(err error) uint64 {
	if c, ok := errors.AsType[*sqlite.CorruptError](err); ok {
		return c.Damaged
	}
	if f, ok := errors.AsType[*sqlite.ForgedError](err); ok {
		return f.Seq
	}
	return 0
}

// auditor returns what asks whether the viewer may audit an entry, once for entries of one call.
func (p *pages) auditor(q *request) func(*journal.Entry) bool {
	known := map[runtime.ActTarget]bool{}
	return func(e *journal.Entry) bool {
		of := runtime.ActTarget{Session: e.Session, Run: e.Run, Call: e.Call}
		may, ok := known[of]
		if !ok {
			may = p.mayAudit(q, of)
			known[of] = may
		}
		return may
	}
}

// entry serves one entry in full.
func (p *pages) entry(q *request) error {
	seq, err := strconv.ParseUint(q.id("seq"), 10, 64)
	if err != nil || seq == 0 {
		return problem(httpguard.BadPosition, "an entry has a number, from 1 on")
	}
	list, err := p.store.Read(q.Context(), seq-1, 1)
	if at := damagedAt(err); at == seq {
		p.tell(err)
		return problem(httpguard.Damaged, "entry "+strconv.FormatUint(seq, 10))
	}
	switch {
	case err != nil:
		return err
	case len(list) == 0 || !p.auditor(q)(&list[0]):
		return problem(httpguard.NotPermitted, "")
	}
	e := &list[0]
	sum := audit.LeafHash(e.Leaf)
	p.render(q, http.StatusOK, "entry", "Entry "+strconv.FormatUint(seq, 10), struct {
		entryItem
		Run, Leaf, Hash string
	}{entryItem{Seq: e.Seq, Kind: e.Kind, Session: e.Session, Call: e.Call, Tool: e.Tool, At: momentOf(e.At)}, e.Run, indented(e.Leaf), hex.EncodeToString(sum[:])})
	return nil
}
