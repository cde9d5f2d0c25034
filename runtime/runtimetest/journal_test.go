package runtimetest_test

import (
	"testing"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

func TestMemory(t *testing.T) {
	runtimetest.TestJournal(t, func(*testing.T) (journal.Journal, func() journal.Journal) {
		m := new(journal.Memory)
		return m, func() journal.Journal { return m }
	})
}

func TestMemoryBySession(t *testing.T) {
	runtimetest.TestSessions(t, func(*testing.T) (journal.Journal, func() journal.Journal) {
		m := new(journal.Memory)
		return m, func() journal.Journal { return m }
	})
}

func TestMemoryFindsRequests(t *testing.T) {
	runtimetest.TestRequests(t, func(*testing.T) (journal.Journal, func() journal.Journal) {
		m := new(journal.Memory)
		return m, func() journal.Journal { return m }
	})
}

func TestMemoryKeepsKeys(t *testing.T) {
	runtimetest.TestKeeper(t, func(*testing.T) (journal.Journal, func() journal.Journal) {
		m := new(journal.Memory)
		return m, func() journal.Journal { return m }
	})
}
