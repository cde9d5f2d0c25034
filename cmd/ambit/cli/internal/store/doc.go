// Package store opens the store of an application for reading, and finds calls,
// runs, requests and grants in it by their ids.
package store
