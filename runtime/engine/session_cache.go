package engine

// A sessionCache keeps in memory the sessions that are used. It loads a session when a goroutine enters it,
// once however many do, and drops it when none has been inside for a time. A pointer that a caller holds stays that
// of its session: the session is loaded again where it is entered again.

import (
	"errors"
	"runtime"
	"time"
	"weak"

	ambit "github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// When an idle session leaves memory.
const (
	idleTime     = time.Minute     // after this time, however few there are
	idleTimeMany = 5 * time.Second // after this time, when more than idleKept sessions are idle
	idleKept     = 256
)

// A sessionCacheConfig says how a sessionCache reaches its sessions. S is a session.
type sessionCacheConfig struct {
	Sched *sched.Scheduler
	Gate  *sched.Gate // no session is loaded or dropped once it is shut; who waits for it waits for these too
	Place func(*Session) *cachePlace

	// Load reads a session into memory, and reports whether the journal has it. It is called under no lock, by one
	// goroutine at a time for a session.
	Load func(*Session) (known bool, err error)

	// Rest returns when the journal has all that a session needs to be loaded again. It is called under no lock.
	Rest func(*Session) error

	// Drop drops a session from memory, and reports false when it cannot: something of it is in memory alone. It is
	// called under the lock of the sessionCache, and no goroutine is inside.
	Drop func(*Session) bool
}

// A cachePlace is where a session is in a sessionCache. The zero value is that of a session that no cache has, which is always in memory.
type cachePlace struct {
	set     *sessionCache
	of      *Session
	id      string
	where   cacheState
	uses    int          // goroutines, calls and undos that are inside
	known   bool         // the journal has the session, or will
	leaving uint64       // the turn in which it is about to be dropped, unless it is entered before; 0: in none
	loaded  *sched.Event // fires when it was loaded, or not
	err     error        // why it was not
	idle    time.Time    // since when no goroutine is inside
	queued  bool

	before, after *cachePlace // in the queue of idle sessions
}

// A cacheState says where a session is.
type cacheState uint8

const (
	outside cacheState = iota
	loading
	inside
)

// A sessionCache has the sessions of an executor. It is safe for concurrent use. The zero value has none, and needs Open.
type sessionCache struct {
	cfg sessionCacheConfig

	mu       lockorder.Mutex[lockorder.Sessions]
	resident map[string]*Session              // in memory
	away     map[string]weak.Pointer[Session] // not in memory, but a caller may hold them
	idle     cachePlace                       // a ring: the longest idle one comes after it
	queued   int                              // in the ring
	turns    uint64                           // sessions that were about to leave
	unloads  bool
	sweeping bool
	timer    ambit.Timer
}

// Open prepares s.
func (s *sessionCache) Open(cfg sessionCacheConfig) {
	s.cfg, s.resident, s.away = cfg, map[string]*Session{}, map[string]weak.Pointer[Session]{}
	s.idle.before, s.idle.after = &s.idle, &s.idle
}

// Begin lets idle sessions leave memory from now on.
func (s *sessionCache) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unloads = true
	s.arm()
}

// Stop lets no session leave memory from now on. One that is about to leave may do so still.
func (s *sessionCache) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unloads = false
	s.disarm()
}

// Len returns how many sessions are in memory.
func (s *sessionCache) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.resident)
}

// Of returns the session with an id, which fresh makes when no caller has it. It may be elsewhere: Enter loads it.
func (s *sessionCache) Of(id string, fresh func() *Session) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.resident[id]; of != nil {
		return of
	}
	if of := s.away[id].Value(); of != nil {
		return of
	}
	of := fresh()
	p := s.cfg.Place(of)
	p.set, p.of, p.id = s, of, id
	s.away[id] = weak.Make(of)
	// The garbage collector holds what a cleanup refers to: with s itself no executor would ever be freed.
	set := weak.Make(s)
	runtime.AddCleanup(of, func(id string) {
		if s := set.Value(); s != nil {
			s.forget(id)
		}
	}, id)
	return of
}

// forget forgets a session that no caller holds any more.
func (s *sessionCache) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, is := s.away[id]; is && w.Value() == nil {
		delete(s.away, id)
	}
}

// Put adds a session of Of that the caller has loaded. The caller is inside, and has to leave.
func (p *cachePlace) Put() {
	s := p.set
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(p, true)
	p.uses++
	s.unqueue(p)
}

// settle notes that a session is in memory.
func (s *sessionCache) settle(p *cachePlace, known bool) {
	p.where, p.known, p.err = inside, known, nil
	s.resident[p.id] = p.of
	delete(s.away, p.id)
}

// Enter keeps a session in memory until Leave. It loads the session first where it is elsewhere. With an error it is
// not in memory, and must not be left. Neither is called under a lock.
func (p *cachePlace) Enter() error {
	s := p.set
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for p.where != inside { // it may have left again meanwhile
		if err := s.load(p); err != nil {
			return err
		}
	}
	p.uses++
	p.leaving = 0
	s.unqueue(p)
	return nil
}

// await waits until another goroutine has loaded a session. s.mu is held, but for the wait.
func (s *sessionCache) await(p *cachePlace) error {
	for p.where == loading {
		loaded := p.loaded
		s.mu.Unlock()
		s.cfg.Sched.Wait(loaded, nil, nil)
		s.mu.Lock()
	}
	if p.where == outside {
		return p.err
	}
	return nil
}

// load loads a session, or waits until another goroutine has. s.mu is held, but for that time.
func (s *sessionCache) load(p *cachePlace) (err error) {
	if p.where == loading {
		return s.await(p)
	}
	p.where, p.loaded = loading, sched.NewEvent()
	s.mu.Unlock()
	known, err := false, errPanicked // unless Load returns
	defer func() {
		s.mu.Lock()
		if err != nil {
			p.where, p.err = outside, err
		} else {
			s.settle(p, known)
		}
		s.cfg.Sched.Fire(p.loaded)
	}()
	known, err = s.read(p.of)
	return err
}

// errPanicked is the error of those who waited for a session whose Load panicked.
var errPanicked = errors.New("the journal panicked while the session was loaded")

// errShut is the error of a session that would have to be loaded while its executor shuts down.
var errShut = errors.New("the executor is shutting down: it loads no session")

// read loads a session, unless the gate is shut.
func (s *sessionCache) read(of *Session) (known bool, err error) {
	if !s.cfg.Gate.Enter() {
		return false, errShut
	}
	defer s.cfg.Gate.Leave()
	return s.cfg.Load(of)
}

// Leave undoes an Enter (SEMANTICS 6.7.13).
func (p *cachePlace) Leave() {
	s := p.set
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.uses--; p.uses > 0 {
		return
	}
	if !p.known { // it was looked for only
		s.drop(p)
		return
	}
	s.queue(p)
	s.arm()
}

// Pin is Enter for a caller to whom a session that cannot be loaded is one without calls. It returns Leave.
func (p *cachePlace) Pin() (leave func()) {
	if p.Enter() != nil {
		return func() {}
	}
	return p.Leave
}

// Known loads a session, and reports whether the journal has it, or will. That of one that cannot be loaded is not known:
// it is reported as if it had.
func (p *cachePlace) Known() bool {
	if p.Enter() != nil {
		return true
	}
	defer p.Leave()
	p.set.mu.Lock()
	defer p.set.mu.Unlock()
	return p.known
}

// idleKept notes that the journal will have a session. It reports whether that is new. A goroutine is inside.
func (p *cachePlace) Keep() (fresh bool) {
	p.set.mu.Lock()
	defer p.set.mu.Unlock()
	fresh = !p.known
	p.known = true
	return fresh
}

// drop drops a session in which no goroutine is. s.mu is held.
func (s *sessionCache) drop(p *cachePlace) bool {
	if !s.cfg.Drop(p.of) {
		return false
	}
	p.where = outside
	delete(s.resident, p.id)
	s.away[p.id] = weak.Make(p.of)
	return true
}
