//go:build !linux

package isolate_test

func act() {}
