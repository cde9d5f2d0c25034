package runtime_test

const stoppedKind = "stopped"

// beStopped is not called: a process cannot be stopped and continued by a signal here.
func beStopped() int { return 2 }
