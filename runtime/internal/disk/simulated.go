package disk

import "context"

type contextKey struct{}

// With returns a context in which the folder of a package that keeps files is d, that of a simulated disk.
func With(ctx context.Context, d Dir) context.Context { return context.WithValue(ctx, contextKey{}, d) }

// Of returns the Dir of With; nil: what is asked of is on the disk of the system.
func Of(ctx context.Context) Dir {
	d, _ := ctx.Value(contextKey{}).(Dir)
	return d
}
