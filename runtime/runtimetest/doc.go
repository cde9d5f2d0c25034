// Package runtimetest has the suites that implementations of the seams of package
// runtime pass. A package with a journal of its own has this test:
//
//	func TestJournal(t *testing.T) {
//		runtimetest.TestJournal(t, func(t *testing.T) (journal.Journal, func() journal.Journal) {
//			path := filepath.Join(t.TempDir(), "store")
//			j := open(t, path)
//			return j, func() journal.Journal { // as a process that starts after this one has ended
//				require.NoError(t, j.Close())
//				j = open(t, path)
//				return j
//			}
//		})
//	}
//
// It has TestSessions likewise. One that lasts has TestCrashes too, on a storage that it can make fail; one that is a
// journal.Owner, a journal.Fencer or a journal.Keeper has TestOwner, TestFencer or TestKeeper.
// A process.Runner has TestRunner, and tools that are declared deterministic have TestDeterministic. FakeRunner is one for the tests of what uses runners.
//
// The suites fail a test by its methods and import nothing but the standard
// library and what they test.
package runtimetest
