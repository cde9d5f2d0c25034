package engine_test

const stoppedKind = "stopped"

// beStopped is not called, because a signal cannot stop and continue a process on this
// system.
func beStopped() int { return 2 }
