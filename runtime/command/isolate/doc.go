// Package isolate runs processes in a box that this program builds without any other program:
// namespaces, Landlock, seccomp, rlimits and a watcher. It is the [process.Runner] of Linux, and
// of macOS for the process tier. docs/isolation.md says what the box is made of, which attack
// tests each part and what a host without user namespaces lacks.
//
//	agent ──exec──▶ shim ──clone(user, mount, pid, net, ipc)──▶ init ──exec──▶ stage ──exec──▶ program
//
// Shim, init and stage are this program, told by argv[0]; [Enter] is where they begin. One
// inherited socket carries the description of the box in and reports out. Its end ends
// everything in the box. Without namespaces the shim is init, as a subreaper.
//
// The agent does not clone namespaces itself, because that copies its page tables. Init is
// under none of the limits, because RLIMIT_NPROC and RLIMIT_DATA would starve its own threads.
package isolate
