// Package commandtest has no code but a test of the whole engine with real processes: a host with its store and
// the runner of runtime/command/isolate, in each form of the box that the machine can build. The tests of runtime/engine
// run commands of runtimetest.FakeRunner under a virtual clock; these see that nothing of a real tree is left when
// the engine says so, after a deadline, a cancel, the end of a run, a session or an executor, and after the recovery
// that follows a kill -9.
//
//	go test ./runtime/internal/commandtest                        # each end, in one form of the box
//	AMBIT_BATTERY=ci go test ./runtime/internal/commandtest       # all forms, deadlines, kills of the agent
package commandtest
