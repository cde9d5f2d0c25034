// Package process is the seam between an executor and the runner that starts the processes of
// command tools: what a process may do, how it is started and what its end says.
//
// It links the standard library only, so that generated code may import it. Package
// runtime/command/isolate is the runner of Linux and macOS, runtimetest.FakeRunner one for tests.
// runtimetest.TestRunner is the suite that every runner passes.
package process
