package sqlite

import "time"

// An Option changes how [Open] opens a store.
type Option func(*options)

type options struct {
	disk Disk
	wait time.Duration
}

// WithWait makes Open wait for at most d while another process owns the store,
// instead of refusing at once.
func WithWait(d time.Duration) Option { return func(o *options) { o.wait = d } }

// WithDisk makes the store be on a disk other than that of the operating system.
func WithDisk(d Disk) Option { return func(o *options) { o.disk = d } }

func configure(opts []Option) options {
	o := options{disk: osDisk{}}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}
