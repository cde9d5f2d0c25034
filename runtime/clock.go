package runtime

import "time"

// A Clock returns the time and schedules functions. By default the executor uses the
// clock of the system.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) Timer
}

// A Timer is returned by AfterFunc of a Clock. It works like a time.Timer.
type Timer interface {
	Stop() bool
	Reset(d time.Duration) bool
}
