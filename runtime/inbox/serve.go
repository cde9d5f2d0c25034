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

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime/internal/oslock"
)

const (
	// every is how often the directory is looked into.
	every = 10 * time.Millisecond
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
	identity func(user string) string

	abort  context.CancelFunc // of the contexts of commands
	stop   chan struct{}
	once   sync.Once
	served *os.File
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

// WithIdentity translates the name of a user of the operating system to the id
// that the person has where approvers are declared. Commands of a user without
// one, "", are refused. The default is the name itself.
func WithIdentity(f func(user string) string) Option { return func(s *Server) { s.identity = f } }

// Serve imports the commands of the inbox of a store, those that are there and
// those that come, until Close. The executor has recovered before. The values of
// ctx, not its end, are those of the contexts of the commands.
func Serve(ctx context.Context, store Store, e *engine.Executor, opts ...Option) (*Server, error) {
	return serve(ctx, store, func(ctx context.Context, c Command) (CommandResult, error) { return Import(ctx, e, c) }, opts...)
}

// serve is Serve with a function that executes the commands.
func serve(ctx context.Context, store Store, execute func(context.Context, Command) (CommandResult, error), opts ...Option) (*Server, error) {
	s := &Server{
		dir: Dir(store), execute: execute, stop: make(chan struct{}), slots: make(chan struct{}, atOnce), seen: map[string]bool{},
		report:   func(err error) { slog.Error("inbox", "error", err) },
		identity: func(user string) string { return user },
	}
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
	if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := checkDir(s.dir); err != nil {
		return err
	}
	s.served, err = os.OpenFile(filepath.Join(s.dir, servedName), os.O_RDWR|os.O_CREATE, 0o644)
	return err
}

// run looks into the directory until Close.
func (s *Server) run(ctx context.Context) {
	s.sweep()
	t := time.NewTicker(every)
	defer t.Stop()
	for locked := false; ; {
		if !locked { // another process may hold the lock for a moment, in Served
			held, err := oslock.Lock(s.served)
			if locked = err != nil || !held; err != nil {
				s.report(fmt.Errorf("others will think that the inbox %q is not served: %w", s.dir, err))
			}
		}
		s.look(ctx)
		select {
		case <-s.stop:
			return
		case <-t.C:
		}
	}
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
	if err := s.served.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close the inbox %q: %w", s.dir, err)
	}
	return nil
}
