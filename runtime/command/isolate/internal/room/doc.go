// Package room asks what memory, processes and disk a host has left for a process.
package room
