// Package proc reads what /proc says of processes: when they started, what is below them, and the
// memory and CPU that they use. It ends them, too.
package proc
