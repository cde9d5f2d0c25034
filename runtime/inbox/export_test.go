package inbox

import "context"

// ServeTo is Serve with a function that executes the commands.
func ServeTo(ctx context.Context, store Store, execute func(context.Context, Command) (CommandResult, error), opts ...Option) (*Server, error) {
	return serve(ctx, store, execute, opts...)
}
