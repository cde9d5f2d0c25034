package wire

// An Opt is a member that may be absent.
type Opt[T any] struct {
	V   T
	Set bool
}

// Some returns a present value.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, Set: true} }

// Put marks the value as present and returns where to write it.
func (o *Opt[T]) Put() *T {
	o.Set = true
	return &o.V
}

// Get returns the value and whether it is present.
func (o Opt[T]) Get() (T, bool) { return o.V, o.Set }

// Or returns the value, or def when it is absent.
func (o Opt[T]) Or(def T) T {
	if o.Set {
		return o.V
	}
	return def
}

// A Null is a value that may be null. The zero Null is null.
type Null[T any] struct {
	V     T
	Valid bool
}

// NonNull returns a value that is not null.
func NonNull[T any](v T) Null[T] { return Null[T]{V: v, Valid: true} }

// Get returns the value and whether it is not null.
func (n Null[T]) Get() (T, bool) { return n.V, n.Valid }

// Or returns the value, or def when it is null.
func (n Null[T]) Or(def T) T {
	if n.Valid {
		return n.V
	}
	return def
}
