package inbox

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime"
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

// MethodOf returns how a user acts on a store of an owner.
func MethodOf(owner, user string) runtime.ActorMethod { return (&Server{owner: owner}).methodOf(user) }

// CurrentUser is the name of the user of this process.
var CurrentUser = currentUser
