package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A session of the test counts in memory, and in a journal.
type countingSession struct {
	*Session
	*sessionCount
}

// A sessionCount is what a session has in memory.
type sessionCount struct {
	mu     sync.Mutex
	loaded bool
	count  int
}

// A world has the journal of sessions.
type world struct {
	sessionCache
	sched sched.Scheduler
	gate  sched.Gate

	mu      sync.Mutex
	counts  map[weak.Pointer[Session]]*sessionCount
	journal map[string]int
	broken  error // of loads
	panics  bool
	full    error // of rests
	stuck   bool  // nothing can be dropped
	loads   atomic.Int64
	resting func() // while a session rests; nil: nothing
}

func newWorld() *world {
	w := &world{counts: map[weak.Pointer[Session]]*sessionCount{}, journal: map[string]int{}}
	w.Open(sessionCacheConfig{
		Sched: &w.sched, Gate: &w.gate, Place: func(s *Session) *cachePlace { return &s.place },
		Load: func(s *Session) (bool, error) { return w.load(w.counting(s)) }, Rest: func(s *Session) error { return w.rest(w.counting(s)) },
		Drop: func(s *Session) bool { return w.drop(w.counting(s)) },
	})
	return w
}

func (w *world) load(s countingSession) (bool, error) {
	w.loads.Add(1)
	time.Sleep(time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	s.sessionCount.mu.Lock()
	defer s.sessionCount.mu.Unlock()
	if w.panics {
		panic("a fault of the journal")
	}
	if w.broken != nil {
		return false, w.broken
	}
	if s.loaded {
		panic("it is in memory already")
	}
	n, known := w.journal[s.id]
	s.loaded, s.count = true, n
	return known, nil
}

func (w *world) rest(s countingSession) error {
	if w.resting != nil {
		w.resting()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.sessionCount.mu.Lock()
	defer s.sessionCount.mu.Unlock()
	if w.full == nil {
		w.journal[s.id] = s.count
	}
	return w.full
}

func (w *world) drop(s countingSession) bool {
	s.sessionCount.mu.Lock()
	defer s.sessionCount.mu.Unlock()
	if w.stuck {
		return false
	}
	s.loaded, s.count = false, -1
	return true
}

func (w *world) of(id string) countingSession {
	return w.counting(w.Of(id, func() *Session { return &Session{id: id} }))
}

// counting returns s with what it has in memory.
func (w *world) counting(s *Session) countingSession {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := weak.Make(s)
	if w.counts[key] == nil {
		w.counts[key] = new(sessionCount)
	}
	return countingSession{s, w.counts[key]}
}

func (s countingSession) inMemory() bool {
	s.sessionCount.mu.Lock()
	defer s.sessionCount.mu.Unlock()
	return s.loaded
}

// use adds one to a session, and returns what it has then.
func (s countingSession) use(t testing.TB) int {
	require.NoError(t, s.place.Enter())
	defer s.place.Leave()
	s.place.Keep()
	s.sessionCount.mu.Lock()
	defer s.sessionCount.mu.Unlock()
	if !s.loaded {
		t.Error("it is used and not in memory")
	}
	s.count++
	return s.count
}

// TestASessionIsLoadedOnce however many goroutines enter it, and each of them uses the same one.
// SEMANTICS 6.7.12
func TestASessionIsLoadedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.journal["s"] = 5
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { w.of("s").use(t) })
		}
		all.Wait()
		assert.Equal(t, int64(1), w.loads.Load())
		assert.Equal(t, 26, w.of("s").use(t))
		assert.Equal(t, 1, w.Len())
	})
}

// TestAnIdleSessionLeaves: after a minute without a goroutine inside, and is loaded again behind the same pointer. A
// session that a goroutine is in stays.
func TestAnIdleSessionLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.Begin()
		s, held := w.of("s"), w.of("held")
		s.use(t)
		require.NoError(t, held.place.Enter())
		held.place.Keep()
		time.Sleep(idleTime - time.Second)
		assert.Equal(t, 2, s.use(t), "it is idle from now on")
		time.Sleep(idleTime - time.Second)
		assert.Equal(t, 2, w.Len())
		time.Sleep(2 * time.Second)
		assert.Equal(t, 1, w.Len())
		assert.True(t, held.inMemory())
		assert.Equal(t, 3, s.use(t))
		assert.Same(t, s.Session, w.of("s").Session)
		held.place.Leave()
		time.Sleep(time.Hour)
		assert.Zero(t, w.Len())
		w.Stop()
	})
}

// TestManyIdleSessionsLeaveSoon: the longest idle ones first, until Keep are left.
func TestManyIdleSessionsLeaveSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.Begin()
		for i := range idleKept + 10 {
			w.of(fmt.Sprint(i)).use(t)
		}
		time.Sleep(idleTimeMany + time.Second)
		assert.Equal(t, idleKept, w.Len())
		assert.False(t, w.of("9").inMemory())
		assert.True(t, w.of("10").inMemory())
		time.Sleep(idleTime)
		assert.Zero(t, w.Len())
	})
}

// TestASessionThatIsEnteredWhileItRestsStays: what was made durable is older than what it has by then, also when the goroutine
// has left again.
func TestASessionThatIsEnteredWhileItRestsStays(t *testing.T) {
	w := newWorld()
	s := w.of("s")
	s.use(t)
	w.resting = func() { s.use(t) }
	assert.Zero(t, w.Unload())
	assert.True(t, s.inMemory())
	w.resting = nil
	assert.Equal(t, 1, w.Unload())
	assert.Equal(t, 3, s.use(t))

	both := 0
	w.resting = func() { // it rests a second time before the first is over
		if both++; both == 1 {
			s.use(t)
			w.resting = nil
			require.Equal(t, 1, w.Unload())
			s.use(t)
		}
	}
	assert.Zero(t, w.Unload())
	assert.Equal(t, 6, s.use(t))
}

// TestASessionStaysUntilTheJournalHasIt.
// SEMANTICS 6.7.13
func TestASessionStaysUntilTheJournalHasIt(t *testing.T) {
	w := newWorld()
	s := w.of("s")
	s.use(t)
	w.full = errors.New("the disk is full")
	assert.Zero(t, w.Unload())
	w.full, w.stuck = nil, true
	assert.Zero(t, w.Unload())
	w.stuck = false
	assert.True(t, s.inMemory())
	w.gate.Shut()
	assert.Zero(t, w.Unload(), "the executor is shut")
	assert.Equal(t, 2, s.use(t))
}

// TestAPanicWhileASessionIsLoaded goes to the goroutine that loads, as a panic like any other. Another one that waits gets an
// error, and the session can be loaded again.
func TestAPanicWhileASessionIsLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.journal["s"] = 5
		w.panics = true
		s := w.of("s")
		var waits sync.WaitGroup
		waits.Go(func() {
			assert.PanicsWithValue(t, "a fault of the journal", func() { _ = s.place.Enter() })
		})
		synctest.Wait() // it loads
		require.ErrorContains(t, s.place.Enter(), "panicked")
		waits.Wait()
		w.panics = false
		assert.Equal(t, 6, w.of("s").use(t))
	})
}

// TestASessionThatCannotBeLoaded says why, to each goroutine that enters it, and other sessions are loaded. It is tried again.
// SEMANTICS 6.7.14
func TestASessionThatCannotBeLoaded(t *testing.T) {
	w := newWorld()
	w.of("other").use(t)
	w.broken = errors.New("it is damaged")
	s := w.of("s")
	require.ErrorIs(t, s.place.Enter(), w.broken)
	s.place.Pin()()
	assert.True(t, s.place.Known(), "that it is not there is not known")
	w.of("other").use(t)
	w.broken = nil
	assert.Equal(t, 1, s.use(t))
	require.Equal(t, 2, w.Unload())
	w.gate.Shut()
	require.ErrorIs(t, s.place.Enter(), errShut)
}

// TestWhatTheJournalDoesNotHaveLeavesAtOnce, and a session that no caller holds is forgotten.
func TestWhatTheJournalDoesNotHaveLeavesAtOnce(t *testing.T) {
	w := newWorld()
	s := w.of("stranger")
	assert.False(t, s.place.Known())
	assert.Zero(t, w.Len())
	require.NoError(t, s.place.Enter())
	assert.True(t, s.place.Keep())
	assert.False(t, s.place.Keep())
	s.place.Leave()
	assert.Equal(t, 1, w.Len())
	assert.True(t, s.place.Known())
	require.Equal(t, 1, w.Unload())
	assert.Same(t, s.Session, w.of("stranger").Session)
	goruntime.KeepAlive(s.Session)
	var none cachePlace // without a journal
	require.NoError(t, none.Enter())
	none.Leave()
	none.Pin()()
}

// TestSessionsAreNeverUsedWhileTheyAreElsewhere: goroutines use sessions while others let them leave, and each use counts.
func TestSessionsAreNeverUsedWhileTheyAreElsewhere(t *testing.T) {
	const users, uses = 8, 200
	w := newWorld()
	var used [3]atomic.Int64
	var all, sweeps sync.WaitGroup
	over := make(chan struct{})
	sweeps.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				w.Unload()
				goruntime.Gosched()
			}
		}
	})
	for i := range users {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 1))
			for range uses {
				n := rnd.IntN(len(used))
				w.of(fmt.Sprint(n)).use(t)
				used[n].Add(1)
			}
		})
	}
	all.Wait()
	close(over)
	sweeps.Wait()
	for i := range used {
		assert.Equal(t, int(used[i].Load())+1, w.of(fmt.Sprint(i)).use(t))
	}
}

// TestASetIsFreed: what a set tells the garbage collector about its sessions does not keep the set, which is
// a part of an executor.
func TestASetIsFreed(t *testing.T) {
	set := func() weak.Pointer[world] {
		w := newWorld()
		s := w.Of("s", func() *Session { return &Session{id: "s"} })
		require.NoError(t, s.place.Enter())
		require.True(t, s.place.Keep())
		s.place.Leave()
		assert.Equal(t, 1, w.Len())
		return weak.Make(w)
	}()
	for i := 0; i < 10 && set.Value() != nil; i++ {
		goruntime.GC()
	}
	assert.Nil(t, set.Value())
}
