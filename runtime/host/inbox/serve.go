package inbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ambit-tools/ambit/runtime/engine"
)

const (
	// every is how often the directory is looked into when the operating system watches it and reports
	// nothing. It is shorter than the time for which "ambit" waits for a result.
	every = 4 * time.Second
	// unwatched is how often it is looked into when the operating system does not watch it.
	unwatched = time.Second
	// soon is the first pause after another process has held the lock.
	soon = 10 * time.Millisecond
	// patience is for how long a command keeps the next ones waiting.
	patience = time.Second
	// startsNow is how many commands are carried out at the same time.
	atOnce = 16
	// litter is how old what a process left behind that ended within Put is when it
	// is removed.
	litter = time.Hour
)

// A Server imports the commands of an inbox.
type Server struct {
	dir      string
	key      []byte
	execute  func(context.Context, Command) (CommandResult, error)
	report   func(error)
	identity func(user string) (id string, groups []string)
	owner    string   // the user of this process
	tokens   Tokens   // nil: none
	logins   Logins   // nil: none
	archiver Archiver // nil: none

	abort  context.CancelFunc // of the contexts of commands
	stop   chan struct{}
	once   sync.Once
	every  time.Duration
	folder folder        // of the goroutine that looks into the directory
	slots  chan struct{} // as many as commands are being carried out
	work   sync.WaitGroup

	mu   sync.Mutex
	seen map[string]bool // names that need no other look: being carried out, or left where they are
}

// An Option changes how a Server works.
type Option func(*Server)

// WithReport sets the function that receives the errors of commands that were not
// carried out because they are not signed, not readable, or cannot be recorded. Several
// goroutines may call it at once. The default is slog.Error.
func WithReport(f func(error)) Option { return func(s *Server) { s.report = f } }

// WithIdentity translates the name of a user of the operating system to the id that the person has
// where approvers are declared, and says to which groups the person belongs. Commands of a user
// whose id is empty are refused. The default, the name itself and no groups, is wrong when people
// have other ids there, or when approvers are groups.
func WithIdentity(f func(user string) (id string, groups []string)) Option {
	return func(s *Server) { s.identity = f }
}

// Serve imports the commands of the inbox of a store, those that are there and
// those that come, until Close. The executor has recovered before. The values of
// ctx, not its end, are those of the contexts of the commands.
func Serve(ctx context.Context, store Store, e *engine.Executor, opts ...Option) (*Server, error) {
	return serve(ctx, store, func(ctx context.Context, c Command) (CommandResult, error) { return Import(ctx, e, c) }, opts...)
}

// serve is Serve with a function that executes the commands.
func serve(ctx context.Context, store Store, execute func(context.Context, Command) (CommandResult, error), opts ...Option) (*Server, error) {
	s := &Server{
		dir: filepath.Clean(Dir(store)), every: every, execute: execute, stop: make(chan struct{}), slots: make(chan struct{}, atOnce), seen: map[string]bool{},
		report:   func(err error) { slog.Error("inbox", "error", err) },
		identity: func(user string) (string, []string) { return user, nil },
	}
	s.folder = folder{dir: s.dir, newWatch: fsnotify.NewWatcher}
	for _, opt := range opts {
		opt(s)
	}
	if err := s.open(ctx, store); err != nil {
		return nil, fmt.Errorf("serve the inbox %q: %w", s.dir, err)
	}
	ctx, s.abort = context.WithCancel(context.WithoutCancel(ctx))
	s.work.Go(func() { s.run(ctx) })
	return s, nil
}

// open makes the inbox, if there is none yet.
func (s *Server) open(ctx context.Context, store Store) (err error) {
	if s.key, err = store.Key(ctx, keyName); err != nil {
		return err
	}
	if s.owner, err = currentUser(); err != nil {
		return err
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	s.folder.report = s.report
	if err := s.folder.hold(); err != nil {
		return errors.Join(err, s.folder.release())
	}
	return nil
}

// run looks into the directory until Close: when the operating system reports a change, and now and
// then in any case, because a network file system reports no change of another machine. The watch
// begins before the first look, so no command comes unnoticed between them.
func (s *Server) run(ctx context.Context) {
	s.sweep()
	t := time.NewTimer(s.every)
	defer t.Stop()
	said, retry := "", soon
	for {
		err := s.folder.hold()
		if err == nil {
			err = s.look(ctx)
		}
		said = s.unless(said, err)
		pause := s.every
		switch {
		case err == nil && !s.folder.locked:
			pause, retry = min(retry, pause), 2*retry
		case s.folder.watch == nil:
			pause, retry = min(unwatched, pause), soon
		default:
			retry = soon
		}
		t.Reset(pause)
		if !s.folder.wait(s.stop, t.C) {
			return
		}
	}
}

// unless reports that the inbox is not served, unless that was said, and returns what is said now.
func (s *Server) unless(said string, err error) string {
	if err == nil {
		return ""
	}
	if err.Error() != said {
		s.report(fmt.Errorf("the inbox %q is not served until this is mended: %w", s.dir, err))
	}
	return err.Error()
}

// sweep removes what is left of processes that ended within Put.
func (s *Server) sweep() {
	list, _ := filepath.Glob(filepath.Join(s.dir, tempPrefix+"*"))
	for _, name := range list {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > litter {
			_ = os.Remove(name)
		}
	}
}

// Close stops importing and waits for the commands that are being carried out.
// When ctx ends their contexts end too, and Close waits for what they do then.
// It may be called more than once.
func (s *Server) Close(ctx context.Context) error {
	s.once.Do(func() { close(s.stop) })
	done := make(chan struct{})
	go func() {
		s.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.abort()
		<-done
	}
	s.abort()
	if err := s.folder.release(); err != nil {
		return fmt.Errorf("close the inbox %q: %w", s.dir, err)
	}
	return nil
}
