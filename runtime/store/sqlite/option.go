package sqlite

import (
	"time"
)

// An Option changes how [Open] opens a store.
type Option func(*options)

type options struct {
	disk  Disk
	wait  time.Duration
	after func(time.Duration, func()) (stop func() bool)
	keys  string

	renewal *renewal // nil: the store is to be the one of its keys file
}

// WithWait makes Open wait for at most d while another process owns the store,
// instead of refusing at once.
func WithWait(d time.Duration) Option { return func(o *options) { o.wait = d } }

// WithDisk makes the store be on a disk other than that of the operating system.
func WithDisk(d Disk) Option { return func(o *options) { o.disk = d } }

// WithAfterFunc sets the timer by which the head of the store is written: f calls g
// when d has passed, unless stop is called before. The default, time.AfterFunc, is
// wrong where time is simulated.
func WithAfterFunc(f func(d time.Duration, g func()) (stop func() bool)) Option {
	return func(o *options) { o.after = f }
}

// WithKeys makes [OpenReader] verify every entry that it reads with the keys in a
// file, which is that of the store or a copy of it, and refuse a store that is not
// the one of these keys or is older than they are.
func WithKeys(file string) Option { return func(o *options) { o.keys = file } }

func configure(opts []Option) options {
	o := options{disk: osDisk{}, after: afterFunc}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

func afterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
