package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// raw is the store that ours is measured by: one row, with a body and a unique
// key, per transaction, through the same driver with the same settings.
type raw struct {
	db     *sql.DB
	insert *sql.Stmt
	body   []byte
	n      int
}

func openRaw(b testing.TB) *raw {
	path := filepath.Join(b.TempDir(), "raw")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, db.Close()) })
	db.SetMaxOpenConns(1)
	_, err = db.Exec("CREATE TABLE j (id TEXT NOT NULL UNIQUE, body BLOB NOT NULL)")
	require.NoError(b, err)
	insert, err := db.Prepare("INSERT INTO j VALUES (?, ?)")
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, insert.Close()) })
	return &raw{db: db, insert: insert, body: noise(512)}
}

// noise has n bytes that look like nothing.
func noise(n int) []byte {
	r, b := rand.New(rand.NewPCG(1, 2)), make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func (r *raw) id() string {
	r.n++
	return fmt.Sprintf("call-%08x-%d", uint32(r.n)*2654435761, r.n)
}

// call is what a durable call costs at least: two rows, two transactions.
func (r *raw) call(b testing.TB) {
	for range 2 {
		if _, err := r.insert.Exec(r.id(), r.body); err != nil {
			b.Fatal(err)
		}
	}
}

// group inserts rows in one transaction.
func (r *raw) group(n int) error {
	tx, err := r.db.Begin()
	if err != nil {
		return err
	}
	insert := tx.Stmt(r.insert)
	for range n {
		if _, err := insert.Exec(r.id(), r.body); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// ours is a store and the position of the last entry that was appended to it.
type ours struct {
	s     *sqlite.Store
	seq   uint64
	calls int
	text  []byte

	private []byte
}

func openOurs(b testing.TB) *ours {
	return &ours{s: open(b, filepath.Join(b.TempDir(), "store")), text: []byte(hex.EncodeToString(noise(400)))}
}

// before and after are the entries that a call makes before and after its handler.
func (o *ours) before(call string) []journal.Entry {
	list := []journal.Entry{
		o.entry("tool.validated", call, journal.MarkOpened, 450), o.entry("tool.authorized", call, 0, 450),
		o.entry("tool.admitted", call, 0, 450), o.entry("tool.started", call, journal.MarkStarted, 450),
	}
	list[0].Private = o.private
	return list
}

func (o *ours) after(call string) []journal.Entry {
	return []journal.Entry{o.entry("tool.completed", call, journal.MarkEnded, 700)}
}

func (o *ours) entry(kind, call string, mark journal.Mark, size int) journal.Entry {
	return journal.Entry{
		At: time.Now(), Kind: kind, Session: "session-0f3b5d1c", Run: "run-0f3b5d1c", Call: call, Tool: "file_read",
		Mark: mark, Leaf: o.text[:size],
	}
}

func (o *ours) append(entries []journal.Entry) error {
	for i := range entries {
		entries[i].Seq = o.seq + uint64(i) + 1
	}
	if err := o.s.Append(context.Background(), entries); err != nil {
		return err
	}
	o.seq += uint64(len(entries))
	return nil
}

func (o *ours) call(b testing.TB) {
	o.calls++
	id := fmt.Sprintf("call-%08x", uint32(o.calls)*2654435761)
	for _, list := range [][]journal.Entry{o.before(id), o.after(id)} {
		if err := o.append(list); err != nil {
			b.Fatal(err)
		}
	}
}

func median(list []time.Duration) float64 {
	slices.Sort(list)
	return float64(list[len(list)/2])
}

// BenchmarkOneCaller measures the two appends of a call beside two raw inserts,
// in turns, so that both see the same machine.
func BenchmarkOneCaller(b *testing.B) {
	b.Run("plain", func(b *testing.B) { oneCaller(b, openOurs(b)) })
	b.Run("private", func(b *testing.B) { // one member of the arguments is to be erasable
		o := openOurs(b)
		o.private = o.text[:64]
		oneCaller(b, o)
	})
}

// warm is how many calls write about the thousand pages of a log.
const warm = 250

func oneCaller(b *testing.B, o *ours) {
	r := openRaw(b)
	for range warm { // so that the logs of both have their size: one that grows is dearer
		o.call(b)
		r.call(b)
	}
	var mine, theirs []time.Duration
	for b.Loop() {
		start := time.Now()
		o.call(b)
		middle := time.Now()
		r.call(b)
		mine, theirs = append(mine, middle.Sub(start)), append(theirs, time.Since(middle))
	}
	b.ReportMetric(median(mine)/median(theirs), "x-raw")
	b.ReportMetric(median(theirs)/1e3, "raw-us")
}

// A flusher is the queue of an executor: a caller that comes while a group is written
// waits, and the first caller that waits writes the next group for all.
type flusher[T any] struct {
	mu    sync.Mutex
	queue []T
	turn  sync.Mutex
	done  uint64 // groups are numbered by what they begin with
	taken uint64
	write func([]T) error
}

func (f *flusher[T]) add(list ...T) error {
	f.mu.Lock()
	f.queue = append(f.queue, list...)
	mine := f.taken + uint64(len(f.queue))
	f.mu.Unlock()
	f.turn.Lock()
	defer f.turn.Unlock()
	if f.done >= mine {
		return nil
	}
	f.mu.Lock()
	group := f.queue
	f.queue = nil
	f.taken += uint64(len(group))
	f.mu.Unlock()
	f.done += uint64(len(group))
	return f.write(group)
}

const callers = 32

// many runs calls by many callers and returns how long each of them took.
func many(b testing.TB, each int, call func(caller, i int) error) time.Duration {
	start := time.Now()
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				if err := call(c, i); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start) / time.Duration(each*callers)
}

// BenchmarkManyCallers measures the same with 32 callers, beside a writer that
// groups raw inserts as ours are grouped, and beside one raw caller.
func BenchmarkManyCallers(b *testing.B) {
	o, r, alone := openOurs(b), openRaw(b), openRaw(b)
	mine := &flusher[journal.Entry]{write: o.append}
	theirs := &flusher[int]{write: func(list []int) error { return r.group(len(list)) }}
	rows := &flusher[int]{write: func(list []int) error { return r.group(len(list)) }}
	var ours, grouped, same, single []time.Duration
	round := 0
	for b.Loop() {
		round++
		ours = append(ours, many(b, 8, func(c, i int) error {
			id := fmt.Sprintf("call-%x-%d-%d", c*7919, round, i)
			if err := mine.add(o.before(id)...); err != nil {
				return err
			}
			return mine.add(o.after(id)...)
		}))
		grouped = append(grouped, many(b, 8, func(int, int) error {
			if err := theirs.add(1); err != nil {
				return err
			}
			return theirs.add(1)
		}))
		same = append(same, many(b, 8, func(int, int) error {
			if err := rows.add(1, 1, 1, 1); err != nil {
				return err
			}
			return rows.add(1)
		}))
		start := time.Now()
		for range 8 {
			alone.call(b)
		}
		single = append(single, time.Since(start)/8)
	}
	b.ReportMetric(median(grouped)/median(ours), "x-grouped-2-rows")
	b.ReportMetric(median(same)/median(ours), "x-grouped-5-rows")
	b.ReportMetric(median(single)/median(ours), "x-one-raw-caller")
	b.ReportMetric(median(ours)/1e3, "us/call")
}
