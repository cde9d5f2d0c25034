// Package oslock locks files, by the operating system, and makes names in
// directories durable.
package oslock
