package inbox

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

// WithPoll sets how often a Server looks into the directory when the operating system reports nothing.
func WithPoll(every time.Duration) Option { return func(s *Server) { s.every = every } }

// WithWatch sets the function that makes the watch of the operating system.
func WithWatch(f func() (*fsnotify.Watcher, error)) Option {
	return func(s *Server) { s.folder.newWatch = f }
}

// ServeTo is Serve with a function that executes the commands.
func ServeTo(ctx context.Context, store Store, execute func(context.Context, Command) (CommandResult, error), opts ...Option) (*Server, error) {
	return serve(ctx, store, execute, opts...)
}
